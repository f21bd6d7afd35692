/**
 * Reads YAML text as plain data, with caps on everything that a hostile document can inflate, and with the line of every
 * value for messages.
 *
 * @module
 */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import { createGuard, DeadlineError } from './deadline.ts';
import { type ManifestProblem, manifestInvalid, problemAt } from './problems.ts';
import { shortLine } from './quote.ts';
import { yaml11Warnings } from './yaml11.ts';

export const MAX_YAML_BYTES: number = 256 * 1024;
const MAX_DEPTH = 64;
const MAX_VALUES = 50_000;
const MAX_ALIASES = 64;
const MAX_SYNTAX_ERRORS = 50;
/** More than any mapping of a manifest or a policy needs. */
export const MAX_KEYS = 5000;
/** Thirty times the parse time of a large normal document. */
const PARSE_DEADLINE_MS = 2000;

export interface YamlOptions {
  file: string;
  /** Line of the file where the text starts; more than 1 for frontmatter. */
  firstLine?: number;
  maxAliases?: number;
}

export interface YamlSource {
  /** Plain data: acyclic, bounded, no `__proto__` keys. */
  value: unknown;
  /** 1-based line of the key or item at this path, or of its nearest parent. */
  lineOf(path: readonly PropertyKey[]): number | undefined;
  /** The text of a plain scalar as written, e.g. `1.10`. */
  textOf(path: readonly PropertyKey[]): string | undefined;
  /** Values that a YAML 1.1 reader would see differently. */
  warnings: string[];
}

/** Reads one YAML 1.2 document. Throws `manifest_invalid`, or `resource_exceeded` if the machine is too busy to parse it. */
export function readYaml(text: string, options: YamlOptions): YamlSource {
  const fail = (message: string): never => {
    throw manifestInvalid(options.file, [problemAt([], message, undefined)]);
  };
  if (Buffer.byteLength(text) > MAX_YAML_BYTES) fail(`The file is larger than ${MAX_YAML_BYTES} bytes`);
  try {
    return createGuard()(PARSE_DEADLINE_MS, () => readGuarded(text, options));
  } catch (error) {
    if (error instanceof DeadlineError) fail('The document takes too long to parse');
    // The parser overflowed its stack; catching that avoids measuring the depth beforehand.
    if (error instanceof RangeError) fail('The document is nested too deeply');
    throw error;
  }
}

function readGuarded(text: string, options: YamlOptions): YamlSource {
  const lines = new LineCounter();
  const firstLine = options.firstLine ?? 1;
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    lineCounter: lines,
    prettyErrors: false,
    // The library's check is quadratic.
    uniqueKeys: false,
    // 'silent' would also hide a second document.
    logLevel: 'error',
  });
  const lineAt = (offset: number): number => lines.linePos(offset).line + firstLine - 1;
  refuseSyntax(document, { file: options.file, lineAt });
  refuseKeys(document, { file: options.file, lineAt });
  const value = toPlainData(document, options);
  const lineOf = (path: readonly PropertyKey[]): number | undefined => {
    const offset = offsetOf(document, path);
    return offset === undefined ? undefined : lineAt(offset);
  };
  refuseShape(value, { file: options.file, lineOf });
  return {
    value,
    lineOf,
    textOf: (path) => plainText(document, path),
    warnings: yaml11Warnings(document, lineAt),
  };
}

function refuseSyntax(
  document: Document.Parsed,
  context: { file: string; lineAt: (offset: number) => number },
): void {
  const errors = [...document.errors, ...document.warnings].slice(0, MAX_SYNTAX_ERRORS);
  // The parser reports its own stack overflow as a document error.
  if (errors.some(({ message }) => /call stack|Stack overflow/.test(message)))
    throw new RangeError('Too deep');
  const problems: ManifestProblem[] = errors.map(({ message, pos }) =>
    problemAt([], shortLine(message), context.lineAt(pos[0])),
  );
  const { yaml } = document.directives;
  // The directive would switch to YAML 1.1, which changes the meaning of `off` or `0123`.
  if (yaml.explicit === true && yaml.version !== '1.2') {
    problems.push(problemAt([], `%YAML ${yaml.version} is not supported; manifests are YAML 1.2`, 1));
  }
  if (problems.length > 0) throw manifestInvalid(context.file, problems);
}

/** Refuses repeated keys, and mappings with too many keys. */
function refuseKeys(
  document: Document.Parsed,
  context: { file: string; lineAt: (offset: number) => number },
): void {
  const problems: ManifestProblem[] = [];
  const refuse = (message: string, node: unknown): void => {
    if (problems.length < MAX_SYNTAX_ERRORS)
      problems.push(problemAt([], message, context.lineAt(startOf(node) ?? 0)));
  };
  visit(document, {
    Map(_, map) {
      if (map.items.length > MAX_KEYS) refuse(`A mapping has more than ${MAX_KEYS} keys`, map);
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) refuse('Map keys must be unique', key);
        seen.add(key.value);
      }
    },
  });
  if (problems.length > 0) throw manifestInvalid(context.file, problems);
}

function toPlainData(document: Document.Parsed, { file, maxAliases = MAX_ALIASES }: YamlOptions): unknown {
  try {
    return document.toJS({ maxAliasCount: maxAliases }) as unknown;
  } catch (error) {
    if (error instanceof ReferenceError) {
      throw manifestInvalid(file, [problemAt([], 'The document uses too many aliases', undefined)]);
    }
    throw error;
  }
}

/** Counts depth and values in the result, in which aliases are expanded. */
function refuseShape(
  value: unknown,
  context: { file: string; lineOf: (path: readonly PropertyKey[]) => number | undefined },
): void {
  let left = MAX_VALUES;
  const refuse = (path: readonly PropertyKey[], message: string): never => {
    throw manifestInvalid(context.file, [problemAt(path.slice(0, 8), message, context.lineOf(path))]);
  };
  const walk = (current: unknown, path: readonly PropertyKey[]): void => {
    left -= 1;
    if (left < 0) refuse([], `The document has more than ${MAX_VALUES} values`);
    if (typeof current !== 'object' || current === null) return;
    if (path.length >= MAX_DEPTH) refuse(path, `The document is nested deeper than ${MAX_DEPTH} levels`);
    const isList = Array.isArray(current);
    for (const [key, child] of Object.entries(current)) {
      const at = [...path, isList ? Number(key) : key];
      if (key === '__proto__') refuse(at, 'The key "__proto__" is not allowed');
      walk(child, at);
    }
  };
  walk(value, []);
}

function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number | undefined {
  let node = resolveAlias(document, document.contents);
  let offset = startOf(node);
  for (const part of path) {
    const step = stepInto(node, part);
    if (!step) break;
    offset = startOf(step.anchor) ?? offset;
    node = resolveAlias(document, step.value);
  }
  return offset;
}

function stepInto(node: unknown, part: PropertyKey): { anchor: unknown; value: unknown } | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(part)];
    return item === undefined ? undefined : { anchor: item, value: item };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
  return pair && { anchor: pair.key, value: pair.value };
}

function plainText(document: Document.Parsed, path: readonly PropertyKey[]): string | undefined {
  const node: unknown = document.getIn(path as unknown[], true);
  return isScalar(node) && node.type === 'PLAIN' ? node.source : undefined;
}

function resolveAlias(document: Document.Parsed, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? (node as Node).range?.[0] : undefined;
}
