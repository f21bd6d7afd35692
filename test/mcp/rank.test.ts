/**
 * Ranking skills for a query.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rank, type Searchable } from '../../src/mcp/rank.ts';

const SKILLS: Searchable[] = [
  { name: 'data__csv_profile', title: 'Csv profile', description: 'Describes a CSV file and its columns.' },
  { name: 'text__word_stats', title: 'Word stats', description: 'Counts words and lines of a text.' },
  { name: 'text__summary', title: 'Summary', description: 'Shortens a text to a few words.' },
  { name: 'web__fetch', title: 'Fetch', description: 'Gets a page. Größe und Überschrift.' },
];
const names = (query: string): string[] => rank(SKILLS, query).map(({ name }) => name);

describe('rank', () => {
  test.each([
    ['csv', ['data__csv_profile']],
    ['CSV-File!', ['data__csv_profile']],
    ['count words', ['text__word_stats', 'text__summary']],
    ['text', ['text__word_stats', 'text__summary']],
    ['überschrift', ['web__fetch']],
    ['summar', ['text__summary']],
    ['rofil', ['data__csv_profile']],
    ['nothing_like_this', []],
    ['?!', []],
    ['', []],
  ])('finds the expected skills for %j', (query, expected) => {
    expect(names(query)).toEqual(expected);
  });

  test('ranks a word in the name above one in the description', () => {
    expect(names('page stats')[0]).toBe('text__word_stats');
  });

  test('returns each skill at most once for any query, and finds each by its name', () => {
    fc.assert(
      fc.property(fc.string(), (query) => {
        const found = names(query);
        return (
          new Set(found).size === found.length && found.every((name) => SKILLS.some((s) => s.name === name))
        );
      }),
    );
    for (const { name } of SKILLS) expect(names(name)[0]).toBe(name);
  });
});
