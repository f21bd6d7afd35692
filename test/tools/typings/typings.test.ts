/**
 * Descriptions of skills as source: they say what the schemas say, and no text of an author gets out of its comment.
 */
import { expect, test } from 'vitest';
import * as fc from 'fast-check';
import { callableOf, typingsOf } from '../../../src/tools/typings/typings.ts';
import { TYPING_LANGUAGE_NAMES } from '../../../src/vocabulary/typing-languages.ts';
import type { Callable } from '../../../src/tools/typings/contract.ts';
import { printable } from '../../../src/manifest/printable.ts';
import { hostileCallables } from './hostile.ts';

const stats: Callable = {
  name: 'text/word_stats',
  description: 'Counts words.\nIn any language.',
  parameters: {
    type: 'object',
    properties: {
      text: { type: 'string', maxLength: 9, description: 'What to count.' },
      top: { type: ['integer', 'null'], default: 10 },
      mode: { enum: ['fast', 'exact'] },
      from: { type: 'string' },
      'max-words': { $ref: '#/$defs/count' },
    },
    required: ['text'],
    $defs: { count: { type: 'integer' } },
  },
  outputs: {
    words: { type: 'integer' },
    top_words: {
      type: 'array',
      items: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
    },
  },
};

test('TypeScript declarations have the types of the schemas and the words of the authors', () => {
  const text = typingsOf('typescript', [stats]);
  expect(text.slice(text.indexOf('declare const'))).toBe(`declare const skills: {
  text: {
    /**
     * Counts words.
     * In any language.
     */
    word_stats(params: {
      /** What to count. (maxLength: 9) */
      text: string;
      /** default: 10 */
      top?: number | null;
      mode?: "fast" | "exact";
      from?: string;
      "max-words"?: number;
    }): Promise<{
      words: number;
      top_words: Array<{
        word: string;
      }>;
    }>;
  };
};
`);
});

test('Python stubs take parameters by name, and those that Python cannot write as a mapping', () => {
  const text = typingsOf('python', [stats]);
  expect(text).toContain(
    'def word_stats(self, /, *, text: str, top: int | None = ..., mode: Literal["fast"] | Literal["exact"] = ..., ' +
      '**others: Unpack[TTextWordStatsOthers]) -> TTextWordStatsResult:',
  );
  expect(text).toContain('"from": NotRequired[str],');
  expect(text).toContain('top_words: list[TTextWordStatsResultTopWords]');
  expect(text).toContain('        text: What to count. (maxLength: 9)\n');
  expect(text).toContain('skills: _Skills');
});

test('a name that no identifier can be is quoted, and the stub says how to call it', () => {
  const odd = { ...stats, name: 'text-x/new' };
  expect(typingsOf('typescript', [odd])).toContain('  "text-x": {\n');
  expect(typingsOf('typescript', [odd])).toContain('"new"(params: {');
  expect(typingsOf('python', [{ ...stats, name: 'text-x/class' }])).toContain(
    'Call it as skills["text-x/class"](…).',
  );
});

test('a schema that refers to itself or is huge gives a short description', () => {
  const node = { type: 'object', properties: { next: { $ref: '#' }, other: { $ref: '#' } } };
  const wide = Object.fromEntries(
    Array.from({ length: 5000 }, (_, at) => [
      `property_${at}`,
      { type: 'string', description: 'y'.repeat(2000) },
    ]),
  );
  for (const parameters of [node, { type: 'object', properties: wide }])
    for (const language of TYPING_LANGUAGE_NAMES)
      expect(typingsOf(language, [{ ...stats, parameters }]).length).toBeLessThan(64 * 1024);
});

test('a description has no control or hidden characters, and no line of it is longer than its cap', () => {
  fc.assert(
    fc.property(hostileCallables, fc.constantFrom(...TYPING_LANGUAGE_NAMES), (callables, language) => {
      const text = typingsOf(language, callables);
      expect(printable(text, { keepsJoiners: true })).toBe(text);
      expect(text.isWellFormed()).toBe(true);
      expect(text.length).toBeLessThan(callables.length * 128 * 1024);
    }),
    { numRuns: 150, endOnFailure: true },
  );
});

test('a skill is described by its manifest', () => {
  const manifest = { ...stats, version: '1.0.0' };
  const skill = { bundle: { manifest } } as unknown as Parameters<typeof callableOf>[0];
  expect(callableOf(skill)).toEqual(stats);
});
