/**
 * console: lines for people, which the host stores as the log of the call.
 *
 * @module
 */
import { host } from './host.ts';
import { show } from './show.ts';

type Print = (...values: unknown[]) => void;

const counts = new Map<string, number>();
let indent = '';

const line =
  (prefix: string): Print =>
  (...values) => {
    const text = values.map((value) => (typeof value === 'string' ? value : show(value))).join(' ');
    host.log(`${indent}${prefix}${text}\n`.toWellFormed());
  };

const print = line('');

export const console: Record<string, Print> = {
  log: print,
  info: print,
  debug: print,
  dir: (value) => print(value),
  warn: line('warning: '),
  error: line('error: '),
  trace: (...values) => line('trace: ')(...values, `\n${new Error('trace').stack ?? ''}`),
  assert: (condition, ...values) => {
    if (!condition) line('error: ')('Assertion failed', ...values);
  },
  count: (label = 'default') => {
    const name = String(label);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    print(`${name}: ${counts.get(name)}`);
  },
  group: (...values) => {
    if (values.length > 0) print(...values);
    indent += '  ';
  },
  groupEnd: () => {
    indent = indent.slice(2);
  },
  table: (value) => print(value),
};
