/**
 * Refuses dangerous JSON Schemas of a skill before anything compiles them.
 *
 * Patterns are not judged by their syntax: every check for "nested quantifiers" either refuses harmless patterns
 * or misses hostile ones (even `\s+$` is quadratic). They run under the deadline of the check instead.
 *
 * @module
 */
import type { JsonSchema } from './manifest.ts';
import { quote, shortLine } from './quote.ts';
import { isPlainFormat, isPlainPattern } from './surely-linear.ts';

export const MAX_SCHEMA_BYTES: number = 64 * 1024;
const MAX_SCHEMA_DEPTH = 32;
const MAX_PATTERN_LENGTH = 256;
/** A schema with more values than this is compiled by a worker thread. */
export const MAX_VALUES_HERE = 400;

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

/** True if no key at any level is one of those keywords, except with a value that is certainly harmless. */
export function isLinear(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return true;
  return Object.entries(schema).every(([key, value]) => isLinearKeyword(key, value) && isLinear(value));
}

function isLinearKeyword(key: string, value: unknown): boolean {
  if (key === 'pattern') return isPlainPattern(value);
  if (key === 'format') return isPlainFormat(value);
  if (key === 'patternProperties')
    return typeof value === 'object' && value !== null && Object.keys(value).every(isPlainPattern);
  return !SUPERLINEAR.has(key);
}

/** Counts the values in a schema, up to one more than the main thread may handle. */
export function countValues(schema: unknown): number {
  let count = 0;
  const walk = (value: unknown): void => {
    if (++count > MAX_VALUES_HERE || typeof value !== 'object' || value === null) return;
    for (const child of Object.values(value)) {
      walk(child);
      if (count > MAX_VALUES_HERE) return;
    }
  };
  walk(schema);
  return count;
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
  // Ajv returns a promise for an asynchronous schema, which is always truthy.
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
  return `${quote(keyword)} may only point inside the schema ("#/…"), not to ${shortLine(JSON.stringify(value))}`;
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
