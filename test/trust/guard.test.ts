import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isArgumentPath, valuesAt } from '../../src/trust/argument-path.ts';
import {
  applyRules,
  strictest,
  type Condition,
  type GuardRule,
  type Proposal,
} from '../../src/trust/guard.ts';

const PROPOSAL: Proposal = {
  skill: 'finance/transfer',
  digest: `sha256:${'0'.repeat(64)}`,
  caller: 'mcp:alice',
  arguments: { amount: 5000, to: { country: 'XX' }, files: ['/etc/passwd', 'notes.txt'], dry: false },
  capabilities: ['network', 'env'],
};

const deny = (rule: Partial<GuardRule>): GuardRule => ({ decision: 'deny', reason: 'because', ...rule });

function decides(rule: Partial<GuardRule>): boolean {
  return applyRules([deny(rule)], PROPOSAL).decision === 'deny';
}

describe('a guard rule', () => {
  it.each<[Partial<GuardRule>, boolean]>([
    [{}, true],
    [{ skill: 'finance/*' }, true],
    [{ skill: 'text/*' }, false],
    [{ caller: 'mcp:*' }, true],
    [{ caller: 'cli' }, false],
    [{ capability: 'network' }, true],
    [{ capability: 'filesystem' }, false],
    [{ skill: 'finance/*', caller: 'cli' }, false],
  ])('%j matches: %s', (rule, expected) => {
    expect(decides(rule)).toBe(expected);
  });

  it.each<[Condition, boolean]>([
    [{ path: '$.amount', above: 1000 }, true],
    [{ path: '$.amount', above: 5000 }, false],
    [{ path: '$.amount', below: 5001 }, true],
    [{ path: '$.amount', above: 1000, below: 2000 }, false],
    [{ path: '$.to.country', equals: 'XX' }, true],
    [{ path: '$.to', equals: { country: 'XX' } }, true],
    [{ path: '$.files[0]', like: '/etc/*' }, true],
    [{ path: '$.files[1]', like: '/etc/*' }, false],
    [{ path: '$.files[*]', like: '*passwd' }, true],
    [{ path: '$.missing', exists: false }, true],
    [{ path: '$.dry', exists: false }, false],
    [{ path: '$.dry', exists: true }, true],
    [{ path: '$.missing', equals: undefined }, false],
    [{ path: '$.to.constructor', exists: true }, false],
    [{ path: '$["to"]["country"]', equals: 'XX' }, true],
  ])('with the argument condition %j matches: %s', (condition, expected) => {
    expect(decides({ arguments: [condition] })).toBe(expected);
  });

  it.each<[string, unknown, Condition]>([
    ['another order of keys', { to: { a: 1, b: 2 } }, { path: '$.to', equals: { b: 2, a: 1 } }],
    ['a number as text', { amount: ' 5000' }, { path: '$.amount', above: 1000 }],
    ['a number as text', { amount: '5e3' }, { path: '$.amount', equals: 5000 }],
    ['a currency before it', { amount: 'USD 1,001' }, { path: '$.amount', above: 1000 }],
    ['a currency before it', { amount: 'us$5000' }, { path: '$.amount', above: 1000 }],
    ['a currency before it', { amount: 'Rs. 5000' }, { path: '$.amount', above: 1000 }],
    ['a short word for thousand', { amount: '5k' }, { path: '$.amount', above: 1000 }],
    ['a short word for thousand', { amount: 'EUR 1.5K' }, { path: '$.amount', above: 1000 }],
    ['a word for a million', { amount: '2 million dollars' }, { path: '$.amount', above: 1000 }],
    ['Greek capitals', { text: '\u0396\u0397\u039c\u039d\u03a5' }, { path: '$.text', like: 'zhmny' }],
    [
      'Greek capitals',
      { text: 'PA\u0393 \u0391\u0392\u0395\u0399\u039a\u039f\u03a1\u03a4\u03a7' },
      { path: '$.text', like: '*abeikoptx' },
    ],
    [
      'Cyrillic capitals',
      { text: '\u0410\u0412\u0421\u0415\u041d\u041a\u041c\u041e\u0420\u0422\u0425\u0423' },
      { path: '$.text', like: 'abcehkmoptxy' },
    ],
    ['wide letters', { text: 'my \uff50\uff41\uff53\uff53word' }, { path: '$.text', like: '*password*' }],
    [
      'letters with an invisible character between them',
      { text: 'pass\u200bword' },
      { path: '$.text', like: '*password*' },
    ],
    ['a letter in two parts', { name: 'Zu\u0308rich' }, { path: '$.name', equals: 'Z\u00fcrich' }],
  ])('is not fooled by %s', (_, given, condition) => {
    const rules = [deny({ arguments: [condition] })];
    expect(applyRules(rules, { ...PROPOSAL, arguments: given }).decision).toBe('deny');
  });

  it.each<[unknown, Condition]>([
    [{ amount: '' }, { path: '$.amount', below: 1 }],
    [{ amount: '5 kg' }, { path: '$.amount', above: 1000 }],
    [{ amount: 'version 5000' }, { path: '$.amount', above: 1000 }],
    [{ amount: 'many' }, { path: '$.amount', above: 0 }],
    [{ amount: null }, { path: '$.amount', equals: 'null' }],
    [{ to: { a: 1 } }, { path: '$.to', equals: { a: 1, b: 2 } }],
    [{ to: [1, 2] }, { path: '$.to', equals: [2, 1] }],
  ])('does not match %j', (given, condition) => {
    const rules = [deny({ arguments: [condition] })];
    expect(applyRules(rules, { ...PROPOSAL, arguments: given }).decision).toBe('allow');
  });

  it('matches only if every condition holds', () => {
    const [high, far]: Condition[] = [
      { path: '$.amount', above: 1 },
      { path: '$.to.country', equals: 'YY' },
    ];
    expect(decides({ arguments: [high as Condition, far as Condition] })).toBe(false);
  });
});

describe('the decision of several guard rules', () => {
  it('is the strictest one, with the reasons of all rules that are equally strict', () => {
    const rules = [
      deny({ decision: 'ask', reason: 'large' }),
      deny({ decision: 'allow', reason: 'known' }),
      deny({ decision: 'ask', reason: 'abroad' }),
    ];
    expect(applyRules(rules, PROPOSAL)).toEqual({ decision: 'ask', reasons: ['large', 'abroad'] });
    expect(applyRules([], PROPOSAL)).toEqual({ decision: 'allow', reasons: [] });
  });

  it('never becomes laxer with one more rule', () => {
    const order = ['allow', 'ask', 'deny'] as const;
    const answer = fc.record({ decision: fc.constantFrom(...order), reasons: fc.array(fc.string()) });
    fc.assert(
      fc.property(fc.array(answer), answer, (some, more) => {
        const [before, after] = [strictest(some), strictest([...some, more])];
        expect(order.indexOf(after.decision)).toBeGreaterThanOrEqual(order.indexOf(before.decision));
      }),
    );
  });
});

describe('the check of argument paths', () => {
  it.each(['$', '$.a', '$.a.b[0]', '$.a[*].b', '$["odd key"]', '$["a\\"b"]'])('accepts %s', (path) => {
    expect(isArgumentPath(path)).toBe(true);
  });

  it.each(['', 'a', '$a', '$..a', '$.', '$[', '$[-1]', '$[?(@.a)]', '$.a b', '$[01x]', "$['a']"])(
    'refuses %s',
    (path) => {
      expect(isArgumentPath(path)).toBe(false);
      expect(valuesAt(path, { a: 1 })).toEqual([]);
    },
  );

  it('finds only own properties, whatever the key', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~]*$/), fc.jsonValue(), (key, value) => {
        expect(valuesAt(`$[${JSON.stringify(key)}]`, Object.fromEntries([[key, value]]))).toEqual([value]);
        expect(valuesAt(`$[${JSON.stringify(key)}]`, {})).toEqual([]);
      }),
    );
  });
});
