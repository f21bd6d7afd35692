/**
 * Placeholders that cells get instead of secrets: random text in the shape of the key, because some programs refuse to
 * start with a key of another shape. Each process gets its own, and only the broker can resolve them.
 *
 * @module
 */
import { randomInt, randomUUID } from 'node:crypto';
import type { Grant, GrantedSecret, SecretShape } from '../../policy/grant.ts';

/** Prefixes that identify the service of a key. They are publicly documented, so they reveal nothing. */
const KNOWN_PREFIXES: readonly string[] =
  'sk-ant-api03- sk-ant- sk-proj- sk-or-v1- sk- sk_live_ sk_test_ pk_live_ pk_test_ rk_live_ whsec_ ghp_ gho_ ghs_ ghu_ github_pat_ glpat- xoxb- xoxp- xapp- hf_ gsk_ r8_ npm_ pypi- AIza AKIA SG.'.split(
    ' ',
  );
const ALPHABETS: Readonly<Record<'hex' | 'letters', string>> = {
  hex: '0123456789abcdef',
  letters: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
};
/** Minimum length of the random part: 128 bits in hexadecimal, more in letters. */
const MIN_LENGTH = 32;
const LONGEST = 256;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PLAIN_SHAPE: SecretShape = { prefix: '', alphabet: 'letters', length: MIN_LENGTH };

export function shapeOf(value: string): SecretShape {
  if (UUID.test(value)) return { prefix: '', alphabet: 'uuid', length: value.length };
  const prefix = KNOWN_PREFIXES.find((known) => value.startsWith(known)) ?? '';
  const rest = value.slice(prefix.length);
  const length = Math.min(Math.max(rest.length, MIN_LENGTH), LONGEST);
  return { prefix, alphabet: /^[0-9a-f]+$/.test(rest) ? 'hex' : 'letters', length };
}

/** Makes a placeholder for each secret of the grant, by name. */
export function makePlaceholders({ secrets = [] }: Grant): Record<string, string> {
  return Object.fromEntries(secrets.map((secret) => [secret.name, placeholderFor(secret)]));
}

function placeholderFor({ shape = PLAIN_SHAPE }: GrantedSecret): string {
  if (shape.alphabet === 'uuid') return randomUUID();
  const characters = ALPHABETS[shape.alphabet];
  const random = Array.from({ length: shape.length }, () => characters[randomInt(characters.length)]);
  return shape.prefix + random.join('');
}
