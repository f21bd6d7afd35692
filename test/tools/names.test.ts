/**
 * Names of skills as names of tools: within the rules of every provider, and back.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { skillName, toolName } from '../../src/index.ts';

/** What all providers accept: the strictest rule of each, which is Gemini's for the first letter. */
const EVERYWHERE = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

const segments = fc.stringMatching(/^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/);
const names = fc.tuple(segments, segments).map((parts) => parts.join('/'));
/** Close to each other, where a careless spelling makes two the same. */
const similar = fc
  .tuple(fc.stringMatching(/^a[a_-]{0,4}b$/), fc.stringMatching(/^a[a_-]{0,4}b$/))
  .map((parts) => parts.join('/'));

describe('the name of a tool', () => {
  test.each([
    ['text/word_stats', 'text__word_stats'],
    ['a__b/c', 'a_Ub__c'],
    ['a/b__c', 'a__b_Uc'],
    ['a___b/c', 'a_UUb__c'],
    ['3d/mesh', 'N3d__mesh'],
    ['a-b/c-d', 'a-b__c-d'],
  ])('of %s is %s', (skill, tool) => {
    expect(toolName(skill)).toBe(tool);
    expect(skillName(tool)).toBe(skill);
  });

  test('of a long one is cut, and told apart by a digest', () => {
    const [one, other] = [`a/${'b'.repeat(64)}`, `a/${'b'.repeat(63)}c`].map(toolName);
    expect(one).toHaveLength(64);
    expect(one).not.toBe(other);
    expect(skillName(one as string)).toBeUndefined();
  });

  test.each(['', 'word_stats', 'text__', '__x', 'text__word__stats', 'Text__x', 'N__x', 'text/word_stats'])(
    '%j belongs to no skill',
    (tool) => {
      expect(skillName(tool)).toBeUndefined();
    },
  );

  test('fits everywhere and can be turned back, whatever the skill is called', () => {
    fc.assert(
      fc.property(fc.oneof(names, similar), (skill) => {
        const tool = toolName(skill);
        expect(tool).toMatch(EVERYWHERE);
        const back = skillName(tool);
        if (back !== undefined || skill.length < 60) expect(back).toBe(skill);
      }),
    );
  });

  test('is never that of another skill', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.oneof(names, similar), { minLength: 2, maxLength: 20 }), (skills) => {
        expect(new Set(skills.map(toolName)).size).toBe(skills.length);
      }),
    );
  });
});
