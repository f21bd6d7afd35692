/**
 * What is refused in a skill's JSON Schema before anything compiles it.
 *
 * Patterns are not judged by their look: every check for "nested quantifiers" either refuses honest patterns
 * or misses hostile ones (`\s+$` alone is quadratic). They run under the deadline of the check instead.
 *
 * @module
 */
import type { JsonSchema } from './manifest.ts';
import { printable, quote } from './quote.ts';

const MAX_SCHEMA_BYTES = 64 * 1024;
const MAX_SCHEMA_DEPTH = 32;
const MAX_PATTERN_LENGTH = 256;

/** Keywords whose keys are names chosen by the author, not keywords. */
const NAME_MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
]);
/** Keywords that hold data, in which `$ref` or `pattern` is just a key. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** Keywords with which a check can take more than (size of the schema) × (size of the value) steps. */
const SUPERLINEAR: ReadonlySet<string> = new Set([
  'pattern',
  'patternProperties',
  'format',
  'uniqueItems',
  '$ref',
  '$dynamicRef',
]);

/** True when no key anywhere, in whatever role, is one of those keywords. */
export function isLinear(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return true;
  return Object.entries(schema).every(([key, value]) => !SUPERLINEAR.has(key) && isLinear(value));
}

/** The first reason to refuse the schema, or undefined. */
export function schemaProblem(schema: JsonSchema): string | undefined {
  if (isDeeper(schema, MAX_SCHEMA_DEPTH)) return `it is nested deeper than ${MAX_SCHEMA_DEPTH} levels`;
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES) {
    return `it is larger than ${MAX_SCHEMA_BYTES} bytes`;
  }
  return keywordProblem(schema);
}

function isDeeper(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((child) => isDeeper(child, left - 1));
}

function keywordProblem(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  if (Array.isArray(schema)) return firstProblem(schema, keywordProblem);
  return firstProblem(Object.entries(schema), ([keyword, value]) => entryProblem(keyword, value));
}

function entryProblem(keyword: string, value: unknown): string | undefined {
  if (DATA.has(keyword)) return undefined;
  // Ajv would answer an asynchronous schema with a promise, which is always "true".
  if (keyword === '$async') return '"$async" is not allowed';
  if (keyword === '$ref' || keyword === '$dynamicRef') return referenceProblem(keyword, value);
  if (keyword === 'pattern') return patternProblem(value);
  if (!NAME_MAPS.has(keyword) || typeof value !== 'object' || value === null) return keywordProblem(value);
  const names =
    keyword === 'patternProperties' ? firstProblem(Object.keys(value), patternProblem) : undefined;
  return names ?? firstProblem(Object.values(value), keywordProblem);
}

function referenceProblem(keyword: string, value: unknown): string | undefined {
  if (typeof value === 'string' && value.startsWith('#')) return undefined;
  return `${quote(keyword)} may only point inside the schema ("#/…"), not to ${printable(JSON.stringify(value))}`;
}

function patternProblem(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length <= MAX_PATTERN_LENGTH) return undefined;
  return `a pattern is longer than ${MAX_PATTERN_LENGTH} characters`;
}

function firstProblem<T>(items: readonly T[], rule: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = rule(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
