/**
 * Names of skills as names of tools: valid for every provider, and reversible.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { skillName, toolName } from '../../src/inside.ts';

/** Names that all providers accept; Gemini has the strictest rule for the first letter. */
const EVERYWHERE = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;

const segments = fc.stringMatching(/^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/);
const names = fc.tuple(segments, segments).map((parts) => parts.join('/'));
/** Similar names, which a careless conversion would map to the same name. */
const similar = fc
  .tuple(fc.stringMatching(/^a[a_-]{0,4}b$/), fc.stringMatching(/^a[a_-]{0,4}b$/))
  .map((parts) => parts.join('/'));

describe('the tool name', () => {
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

  test('of a long skill name is truncated and made unique by a digest', () => {
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

  test('is valid for every provider and converts back to any skill name', () => {
    fc.assert(
      fc.property(fc.oneof(names, similar), (skill) => {
        const tool = toolName(skill);
        expect(tool).toMatch(EVERYWHERE);
        const back = skillName(tool);
        if (back !== undefined || skill.length < 60) expect(back).toBe(skill);
      }),
    );
  });

  test('is different for every skill', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.oneof(names, similar), { minLength: 2, maxLength: 20 }), (skills) => {
        expect(new Set(skills.map(toolName)).size).toBe(skills.length);
      }),
    );
  });
});
