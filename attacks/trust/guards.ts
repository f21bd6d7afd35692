/**
 * Calls that a guard rule forbids, written so that the rule does not recognize them.
 *
 * @module
 */
import { group, type Careless, type TrustAttack } from './attack.ts';
import { overflows } from './careless.ts';
import { HARMLESS } from './stage.ts';

interface Trick {
  description: string;
  /** One condition of a denying rule, as YAML. */
  when: string;
  params: unknown;
  careless: Careless;
}

function trick({
  description,
  when,
  params,
  careless,
}: Trick): Omit<TrustAttack, 'name' | 'codes' | 'limits'> {
  return {
    description,
    attempt: (stage) => {
      const policy = `guard: [{ arguments: [${when}], decision: deny, reason: forbidden }]`;
      return stage.call(stage.write(stage.stranger, { code: RAN }), { params, policy });
    },
    control: careless,
  };
}

/** The rule was meant to prevent that it is called at all. */
const RAN = HARMLESS.replace(/return .*/, 'return { succeeded: true };');

const misses =
  (given: unknown, wanted: unknown): Careless =>
  () =>
    JSON.stringify(given) === JSON.stringify(wanted)
      ? undefined
      : `${JSON.stringify(given)} is not ${JSON.stringify(wanted)} for a guard that compares strings`;

const missesText =
  (given: string): Careless =>
  () =>
    given.includes('password') ? undefined : `a guard that searches finds no "password" in "${given}"`;

const LIKE = '{ path: $.text, like: "*password*" }';
const TWICE = '{ "amount": 1, "amount": 5000 }';
const ABOVE = '{ path: $.amount, above: 1000 }';

/** Has one value when it is checked and another when it is sent. */
class TwoFaced {
  readonly text = 'nothing';
  toJSON(): unknown {
    return { text: 'the password' };
  }
}

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

export const GUARD_ATTACKS: readonly TrustAttack[] = [
  ...group(['untrusted'], {
    guard_order_of_keys: trick({
      description: 'Passes the keys of a forbidden object in another order.',
      when: '{ path: $.to, equals: { bank: evil, number: 1 } }',
      params: { to: { number: 1, bank: 'evil' } },
      careless: misses({ number: 1, bank: 'evil' }, { bank: 'evil', number: 1 }),
    }),
    guard_number_as_text: trick({
      description: 'Passes a forbidden number as a string.',
      when: ABOVE,
      params: { amount: ' 5000 ' },
      careless: misses(' 5000 ', 5000),
    }),
    guard_number_with_exponent: trick({
      description: 'Passes a forbidden number in another notation.',
      when: '{ path: $.amount, equals: 5000 }',
      params: { amount: '5.0e3' },
      careless: misses('5.0e3', 5000),
    }),
    guard_number_in_other_digits: trick({
      description: 'Passes a forbidden number in Arabic digits, which Python reads.',
      when: ABOVE,
      params: { amount: '\u0665\u0660\u0660\u0660' },
      careless: misses('\u0665\u0660\u0660\u0660', 5000),
    }),
    guard_number_with_underscore: trick({
      description: 'Groups the digits of a forbidden number with underscores, which Python and others read.',
      when: ABOVE,
      params: { amount: '5_000' },
      careless: misses('5_000', 5000),
    }),
    guard_number_with_comma: trick({
      description: 'Groups the digits of a forbidden number with commas.',
      when: ABOVE,
      params: { amount: '5,000.00' },
      careless: misses('5,000.00', 5000),
    }),
    guard_number_infinite: trick({
      description: 'Passes the word that Python reads as infinity.',
      when: ABOVE,
      params: { amount: ' +InF' },
      careless: misses(' +InF', 5000),
    }),
    guard_number_with_unit: trick({
      description: 'Writes a unit after a forbidden number, which some parsers skip.',
      when: ABOVE,
      params: { amount: '5000 EUR' },
      careless: misses('5000 EUR', 5000),
    }),
    guard_other_case: trick({
      description: 'Writes a forbidden word in capital letters.',
      when: LIKE,
      params: { text: 'my PassWord' },
      careless: missesText('my PassWord'),
    }),
    guard_look_alikes: trick({
      description: 'Writes a forbidden word with Cyrillic and Greek letters.',
      when: LIKE,
      params: { text: 'my \u0440\u0430ssw\u03bfrd' },
      careless: missesText('my \u0440\u0430ssw\u03bfrd'),
    }),
    guard_wide_letters: trick({
      description: 'Writes a forbidden word in full-width letters.',
      when: LIKE,
      params: { text: 'my \uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44' },
      careless: missesText('my \uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44'),
    }),
    guard_zero_width: trick({
      description: 'Puts zero-width spaces into a forbidden word.',
      when: LIKE,
      params: { text: 'my pass\u200bwo\u00adrd' },
      careless: missesText('my pass\u200bwo\u00adrd'),
    }),
    guard_parts_of_letters: trick({
      description: 'Writes a forbidden name with combining accents.',
      when: '{ path: $.name, equals: "Z\u00fcrich" }',
      params: { name: 'Zu\u0308rich' },
      careless: misses('Zu\u0308rich', 'Z\u00fcrich'),
    }),
    guard_prototype: trick({
      description: 'Passes a forbidden value under the key "__proto__".',
      when: '{ path: \'$["__proto__"].admin\', equals: true }',
      params: JSON.parse('{ "__proto__": { "admin": true } }'),
      careless: () => {
        const copied = Object.assign({}, JSON.parse('{ "__proto__": { "admin": true } }')) as object;
        return Object.hasOwn(copied, '__proto__') ? undefined : 'a guard that copies its input loses it';
      },
    }),
    guard_twice_the_key: trick({
      description: 'Passes an argument twice, first allowed and then forbidden.',
      when: ABOVE,
      params: JSON.parse(TWICE),
      careless: () => {
        const first = Number(/"amount": (\d+)/.exec(TWICE)?.[1]);
        return first > 1000 ? undefined : `a guard that takes the first sees ${first}`;
      },
    }),
    guard_object_for_list: trick({
      description: 'Passes an object where the rule expects a list.',
      when: '{ path: "$.files[*]", like: "/etc/*" }',
      params: { files: { 0: '/etc/passwd' } },
      careless: () => (Array.isArray({ 0: '' }) ? undefined : 'a guard that only walks lists sees nothing'),
    }),
    guard_two_faces: trick({
      description: 'Passes an object that changes when it is serialized.',
      when: LIKE,
      params: new TwoFaced(),
      careless: () =>
        new TwoFaced().text.includes('password') ? undefined : 'a guard that looks sees "nothing"',
    }),
    guard_of_caller_allows: {
      description: "Has the caller's own guard allow what the policy denies.",
      attempt: (stage) =>
        stage.call(stage.write(stage.stranger, { code: RAN }), {
          policy: 'guard: [{ skill: trust/*, decision: deny, reason: forbidden }]',
          runtime: { guard: () => ({ decision: 'allow', reasons: ['fine'] }) },
        }),
      control: { none: 'It is about whose decision counts.' },
    },
    guard_changes_arguments: {
      description: 'Has a guard that changes the arguments while it checks them.',
      attempt: (stage) =>
        stage.call(stage.write(stage.stranger, { code: 'export const execute = (given) => given;' }), {
          params: { amount: 5000 },
          policy: `guard: [{ arguments: [${ABOVE}], decision: deny, reason: forbidden }]`,
          runtime: {
            guard: (proposal) => {
              (proposal.arguments as { amount: number }).amount = 1;
              return { decision: 'allow', reasons: [] };
            },
          },
        }),
      control: { none: 'It is about the order of the checks.' },
    },
  }),
  ...group(['invalid_params'], {
    guard_deep: trick({
      description: 'Hides a forbidden value a hundred thousand levels deep.',
      when: LIKE,
      params: { text: nested(100_000) },
      careless: () => overflows(nested(100_000)),
    }),
  }),
];
