import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nameMatches } from '../../src/manifest/star-pattern.ts';
import { ruleFor, type SkillRule } from '../../src/trust/skill-rules.ts';
import { exampleManifest } from '../policy/example-manifest.ts';

const rule = (match: string, decision: SkillRule['decision'], requireSignature = false): SkillRule => ({
  match,
  decision,
  requireSignature,
});

describe('matching skill rules', () => {
  it.each([
    ['*', 'finance/wallet', true],
    ['finance/*', 'finance/wallet', true],
    ['finance/*', 'finance', false],
    ['finance/*', 'finances/wallet', false],
    ['finance/w*t', 'finance/wallet', true],
    ['finance/w*x', 'finance/wallet', false],
    ['*/wallet', 'finance/wallet', true],
    ['*/*', 'finance/wallet', true],
    ['finance/wallet', 'finance/wallet', true],
    ['finance/wallet', 'finance/wallet2', false],
    ['f*e/w*a*t', 'finance/wallet', true],
    ['f*e/w*t*a', 'finance/wallet', false],
  ])('says that %s covers %s: %s', (pattern, name, expected) => {
    expect(nameMatches(pattern, name)).toBe(expected);
  });

  it('never lets a star cross a slash', () => {
    const segment = fc.stringMatching(/^[a-z0-9_]{1,8}$/);
    fc.assert(
      fc.property(segment, segment, segment, (a, b, c) => {
        expect(nameMatches(`${a}/*`, `${a}/${b}/${c}`)).toBe(false);
        expect(nameMatches(`${a}/*`, `${a}/${b}`)).toBe(true);
      }),
    );
  });

  it('applies the first rule that matches', () => {
    const rules = [rule('finance/wallet', 'ask', true), rule('finance/*', 'deny'), rule('*', 'allow')];
    const answer = (name: string) => ruleFor(rules, { manifest: exampleManifest({ name }) });
    expect(answer('finance/wallet')).toMatchObject({ decision: 'ask', requireSignature: true });
    expect(answer('finance/other')).toMatchObject({ decision: 'deny', requireSignature: false });
    expect(answer('text/words')).toMatchObject({ decision: 'allow' });
  });

  it('allows a skill that no rule matches, and reports that none did', () => {
    expect(ruleFor([rule('a/b', 'deny')], { manifest: exampleManifest({ name: 'c/d' }) })).toEqual({
      decision: 'allow',
      requireSignature: false,
    });
  });
});
