/**
 * Warns about values that a YAML 1.1 reader reads differently. Skillware reads manifests with PyYAML, so PyYAML's version
 * of YAML 1.1 applies: `off` is false, but `n` is not.
 *
 * @module
 */
import { type Document, isMap, isPair, isScalar, isSeq, type Scalar, visit } from 'yaml';
import { formatPath, quote } from './quote.ts';

/** The first warnings show the pattern; a longer list does not help. */
const MAX_WARNINGS = 20;

const BOOLEAN = /^(?:yes|Yes|YES|on|On|ON|no|No|NO|off|Off|OFF|true|True|TRUE|false|False|FALSE)$/;
const TRUTHY = /^(?:yes|on|true)$/i;
const TIMESTAMP =
  /^\d{4}-\d\d-\d\d$|^\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?$/;
const SEXAGESIMAL = /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/;
const BINARY = /^[-+]?0b[01_]+$/;
const HEXADECIMAL = /^[-+]?0x[\da-fA-F_]+$/;
const OCTAL = /^[-+]?0[0-7_]+$/;
const DECIMAL = /^[-+]?(?:0|[1-9][\d_]*)$/;
const FLOAT = /^(?:[-+]?\d[\d_]*\.[\d_]*(?:[eE][-+]\d+)?|\.\d[\d_]*(?:[eE][-+]\d+)?)$/;
const INFINITE = /^[-+]?\.(?:inf|Inf|INF)$/;
const NOT_A_NUMBER = /^\.(?:nan|NaN|NAN)$/;
const NOTHING = /^(?:~|null|Null|NULL|)$/;
/** Text that both versions shorten in the same way: `1.10` is the number 1.1. */
const SHORTENED = /^[-+]?\d+\.\d*[1-9]0+$/;

/** Describes how a YAML 1.1 reader reads a plain scalar; equal descriptions mean equal values. */
export function readAsYaml11(source: string): string {
  if (NOTHING.test(source)) return 'null';
  if (BOOLEAN.test(source)) return `the boolean ${TRUTHY.test(source)}`;
  if (TIMESTAMP.test(source)) return `the date ${source}`;
  const number = numberInYaml11(source.replaceAll('_', ''), source);
  return number === undefined ? `the string ${quote(source)}` : `the number ${number}`;
}

function numberInYaml11(digits: string, source: string): number | undefined {
  if (NOT_A_NUMBER.test(source)) return Number.NaN;
  const sign = digits.startsWith('-') ? -1 : 1;
  const unsigned = digits.replace(/^[-+]/, '');
  if (INFINITE.test(source)) return sign * Infinity;
  if (BINARY.test(source)) return sign * Number.parseInt(unsigned.slice(2), 2);
  if (HEXADECIMAL.test(source)) return sign * Number.parseInt(unsigned.slice(2), 16);
  if (OCTAL.test(source)) return sign * Number.parseInt(unsigned, 8);
  if (DECIMAL.test(source) || FLOAT.test(source)) return sign * Number(unsigned);
  if (!SEXAGESIMAL.test(source)) return undefined;
  return sign * unsigned.split(':').reduce((total, part) => total * 60 + Number(part), 0);
}

function readAsYaml12(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return `the string ${quote(value)}`;
  return `the ${typeof value} ${value as number | boolean}`;
}

/** One warning for every plain scalar, key or value, that reads differently under YAML 1.1. */
export function yaml11Warnings(document: Document.Parsed, lineAt: (offset: number) => number): string[] {
  const warnings: string[] = [];
  visit(document, {
    Scalar: (_key, scalar, ancestors) => {
      if (warnings.length >= MAX_WARNINGS) return visit.BREAK;
      const text = warningFor(scalar);
      if (text === undefined) return undefined;
      const line = lineAt(scalar.range?.[0] ?? 0);
      warnings.push(`${formatPath(pathOf(scalar, ancestors))} (line ${line}): ${text}`);
      return undefined;
    },
  });
  return warnings;
}

function warningFor(scalar: Scalar): string | undefined {
  const { source } = scalar;
  if (scalar.type !== 'PLAIN' || source === undefined || scalar.tag !== undefined) return undefined;
  if (source === '<<') return 'The merge key "<<" is a plain key here; YAML 1.1 readers merge it';
  const ours = readAsYaml12(scalar.value);
  const theirs = readAsYaml11(source);
  if (ours !== theirs) {
    return `${quote(source)} is ${ours} here (YAML 1.2) and ${theirs} for YAML 1.1 readers such as PyYAML; quote it to be sure`;
  }
  if (!SHORTENED.test(source)) return undefined;
  return `${quote(source)} is ${ours} here and under YAML 1.1, which drops the last digit; quote it if the text matters`;
}

function pathOf(scalar: Scalar, ancestors: readonly unknown[]): PropertyKey[] {
  const path: PropertyKey[] = [];
  for (const [index, ancestor] of ancestors.entries()) {
    const child: unknown = ancestors[index + 1] ?? scalar;
    if (isSeq(ancestor)) path.push(ancestor.items.indexOf(child));
    if (isPair(ancestor) && isMap(ancestors[index - 1])) {
      path.push(isScalar(ancestor.key) ? String(ancestor.key.value) : '?');
    }
  }
  return path;
}
