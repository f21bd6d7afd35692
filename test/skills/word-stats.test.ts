/**
 * One skill in five languages: committed binaries, binaries built here and plain source all return the same bytes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { execute as reference } from '../../examples/text/word_stats_ts/src/skill.ts';
import { buildSkill } from '../../src/inside.ts';
import type { Skill } from '../../src/index.ts';
import { openTestRuntime, type TestRuntime } from '../cell/test-runtime.ts';
import { bundled, copySource, ours } from './copy-skill.ts';

interface Case {
  name: string;
  params: { text?: string; top?: number };
  /** A text that is too long for the file of cases. */
  repeat?: [text: string, times: number];
  result: object;
}

const COMMITTED = ['c', 'rust', 'as'];
const LANGUAGES = ['c', 'rust', 'as', 'ts', 'go'];

const file = join(import.meta.dirname, 'word-stats.cases.json');
const CASES = JSON.parse(readFileSync(file, 'utf8'), expandRepeats) as Case[];

/** Expands `{ "repeat": [text, times] }` to the repeated text. */
function expandRepeats(_key: string, value: unknown): unknown {
  const { repeat, params, ...rest } = (value ?? {}) as Partial<Case>;
  if (typeof value !== 'object' || Array.isArray(value) || !repeat) return value;
  const text = repeat[0].repeat(repeat[1]);
  return params ? { ...rest, params: { text, ...params } } : text;
}

const ALL = [
  'the plain source',
  'the Python source',
  ...COMMITTED.map((language) => `the committed ${language}`),
  ...LANGUAGES.map((language) => `the built ${language}`),
];

let opened: TestRuntime;
const skills = new Map<string, Skill>();

async function run(skill: string, params: object): Promise<string> {
  const loaded = skills.get(skill);
  if (!loaded) throw new Error(`"${skill}" was not loaded`);
  // Without Python in Wasm, which would have to be prepared first; registry.test.ts covers it.
  const options = skill === 'the Python source' ? ({ execution: 'subprocess' } as const) : {};
  const { result } = await opened.runtime.execute(loaded, params, options);
  return JSON.stringify(result);
}

beforeAll(async () => {
  // Keeps one cell of each, because starting one takes longer than all its calls.
  opened = openTestRuntime({ audit: false, pool: { size: 1, maxStandby: ALL.length } });
  skills.set('the plain source', await opened.runtime.load(bundled('text/word_stats')));
  skills.set('the Python source', await opened.runtime.load(bundled('text/word_stats_py')));
  for (const language of COMMITTED) {
    const dir = bundled(`text/word_stats_${language}`);
    skills.set(`the committed ${language}`, await opened.runtime.load(dir));
  }
  for (const language of LANGUAGES) {
    const dir = copySource(`text/word_stats_${language}`, opened.folder);
    buildSkill(dir);
    skills.set(`the built ${language}`, await opened.runtime.load(dir));
  }
});

afterAll(() => opened.close());

describe.each(ALL)('word_stats in %s', (skill) => {
  test.each(CASES)('counts correctly: $name', async ({ params, result }) => {
    expect(await run(skill, params)).toBe(JSON.stringify(result));
  });
});

test('all word_stats skills agree on any text', async () => {
  const pieces = [
    ...["'", '’', ' ', '\n', '\r', '.', '!', '。', '…', '3', '٣', 'É', 'Σ', 'ς', 'İ', 'Ⱥ', 'Ж', '你'],
    ...['e\u0301', '\u0301', '👩‍👧', '𝒜', '𐐀', '\u200d', '\ud800', '\udc00', '"', '\\', '\t', '\0', '{', ','],
  ];
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 1 })),
  });
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 50 }), async (text, top) => {
      const expected = reference(JSON.stringify({ top, text }));
      const results = await Promise.all(ALL.map((skill) => run(skill, { top, text })));
      expect(results).toEqual(ALL.map(() => expected));
    }),
    { numRuns: 50 },
  );
});

describe('the sources of word_stats', () => {
  test('contain the same Unicode tables', () => {
    const files = [
      ...['c/src/unicode.h', 'rust/src/unicode.rs', 'go/src/unicode.go'],
      ...['as/assembly/unicode.ts', 'ts/src/unicode.ts', 'py/unicode_tables.py'],
    ];
    const tables = files.map((file) => {
      const source = readFileSync(ours(`text/word_stats_${file}`), 'utf8');
      return [...source.matchAll(/"([\w-]+)"/g)].map(([, digits]) => digits).join('');
    });
    expect(tables[0]?.length).toBeGreaterThan(3000);
    expect(new Set(tables).size).toBe(1);
  });

  test('know every letter, digit and mark, and its lower case', () => {
    const samples = Array.from({ length: 0x1100 }, (_, at) => at * 0x100 + ((at * 37) % 0x100));
    for (const point of samples.filter((point) => point < 0xd800 || point > 0xdfff)) {
      const character = String.fromCodePoint(point);
      const { top_words } = JSON.parse(reference(JSON.stringify({ text: `${character}.` }))) as {
        top_words: { word: string }[];
      };
      const expected = /[\p{L}\p{Nd}]/u.test(character) ? [simpleLower(character)] : [];
      expect([point, ...top_words.map(({ word }) => word)]).toEqual([point, ...expected]);
    }
  });
});

function simpleLower(character: string): string {
  const lower = character.toLowerCase();
  return Array.from(lower).length === 1 ? lower : character;
}
