/**
 * The needs of a source are found whatever it looks like, and TypeScript becomes JavaScript with the same lines.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findIn } from '../../../guest/wasm/js/install/findings.ts';
import { tokens } from '../../../guest/wasm/js/install/lexer.ts';
import { prepareSources } from '../../../guest/wasm/js/install/sources.ts';
import { words } from '../../words.ts';

const values = (source: string, kind: 'imports' | 'env' | 'hosts' | 'fetches'): string[] =>
  findIn(source, 'x.ts')[kind].map(({ value }) => value);

describe('imports are found in', () => {
  test.each([
    ['import "a";', ['a']],
    ["import a, { b as c } from './a.ts' with { type: 'json' };", ['./a.ts']],
    ['import * as a from "a"\nexport { b } from "b"\nexport * from "c"', ['a', 'b', 'c']],
    ['const a = await import("a");', ['a']],
    ['import(name); import.meta.url; obj.from("x"); // from "y"', []],
    ['const s = \'import "x"\'; const t = `import "y"`; /* import "z" */ const r = /import "q"/;', []],
    ['const t = `${await import("a")} import "b"`; import "c"', ['a', 'c']],
    ['import "\\x61\\u{62}"', ['ab']],
  ])('%s', (source, expected) => {
    expect(values(source, 'imports')).toEqual(expected);
  });
});

describe('variables are found in', () => {
  test.each([
    ['process.env.A + process.env["B"] + process?.env?.C', ['A', 'B']],
    ['const { A, B: b, C = 1 } = process.env;', ['A', 'B', 'C']],
    ['process.env["A" + b]; process.env[a]; Object.keys(process.env)', []],
    ['import { env, requireEnv } from "skillcell:env"; env.A; env["B"]; requireEnv("C")', ['A', 'B', 'C']],
    ['const env = {}; env.A; other.env.B', []],
    ['`process.env.A ${process.env.B}` // process.env.C', ['B']],
  ])('%s', (source, expected) => {
    expect(values(source, 'env')).toEqual(expected);
  });
});

describe('hosts and requests are found in', () => {
  test.each([
    ['"https://API.example.org/x"', ['api.example.org']],
    ['`http://a.org:8080/${x}`; `https://${host}/x`; `https://api.${x}`', ['a.org']],
    ['"https://user@b.org?x"; "see https://c.org"; "ftp://d.org"; "https://"', ['b.org']],
  ])('%s', (source, expected) => {
    expect(values(source, 'hosts')).toEqual(expected);
  });

  test.each([
    ['fetch("x"); await globalThis.fetch(url)', 2],
    ['client.fetch("x"); function fetch(a) {} const fetch = 1; "fetch("; prefetch(x)', 0],
  ])('%s', (source, count) => {
    expect(values(source, 'fetches')).toHaveLength(count);
  });
});

test('the lexer tells a division from a regular expression', () => {
  const kinds = (source: string): string[] =>
    [...tokens(source)].filter(({ kind }) => kind === 'regexp').map(({ value }) => value);
  expect(kinds('a / b / c; (a) / 2 / 1; x = /[/"]\\/"/g.test(y); return /"/; [/a/]')).toEqual([
    '/[/"]\\/"/g',
    '/"/',
    '/a/',
  ]);
});

test('the lexer reads any text to its end, with correct line numbers', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...words('` ${ } { " / * // /* */ import from ( process.env. https://x #!'),
      "'",
      '\\',
      '\n',
      '\u2028',
    ),
    fc.string({ unit: 'binary', maxLength: 3 }),
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 30 }).map((parts) => parts.join('')),
      (source) => {
        const lines = source.split('\n').length;
        let last = 1;
        for (const { line } of tokens(source)) {
          expect(line).toBeGreaterThanOrEqual(last);
          last = line;
        }
        expect(last).toBeLessThanOrEqual(lines);
        findIn(source, 'x.ts');
      },
    ),
    { numRuns: 2000 },
  );
});

test('types are stripped, and every line stays where it was', () => {
  const source = 'interface A {\n  b: string;\n}\nexport const execute = (a: A): string => a.b as string;\n';
  const { modules, findings } = prepareSources(new Map([['skill.ts', source]]), 'skill.ts');
  const [, text = ''] = modules[0] ?? [];
  expect(text.split('\n')).toHaveLength(source.split('\n').length);
  expect(text.split('\n')[3]).toMatch(/^export const execute = \(a {3}\) {9}=> a\.b {10};$/);
  expect(findings.unparsed).toEqual([]);
});

test('findings cover only what the skill imports, directly or indirectly', () => {
  const files = new Map([
    ['skill.ts', 'import "./a.js";\nexport const execute = () => import("./b.ts");'],
    ['a.ts', 'process.env.A;\nimport "./skill.ts";'],
    ['b.ts', 'process.env.B;\nimport data from "./d.json";'],
    ['c.ts', 'process.env.C;\nenum X {}'],
    ['d.json', '{"process.env.D": "https://d.org"}'],
  ]);
  const { findings, modules } = prepareSources(files, 'skill.ts');
  expect(findings.env).toEqual([
    { value: 'A', at: 'a.ts:1' },
    { value: 'B', at: 'b.ts:1' },
  ]);
  expect(findings.unparsed).toEqual([]);
  expect(new Map(modules).get('c.ts')).toContain('throw new SyntaxError("c.ts:2: TypeScript enum');
});
