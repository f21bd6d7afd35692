import { generateKeyPairSync } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SkillError } from '../../src/errors.ts';
import {
  formatSignatures,
  isGoodEd25519,
  isPublicKey,
  makeKeyPair,
  parseSignatures,
  signLock,
} from '../../src/trust/signature.ts';

const LOCK = Buffer.from('{"version":1}\n');

describe('a signature with a plain key', () => {
  const { privateKey, publicKey } = makeKeyPair();
  const made = signLock(LOCK, privateKey);

  it('verifies with its lock and its key', () => {
    expect(made.key).toBe(publicKey);
    expect(isGoodEd25519(made, LOCK)).toBe(true);
  });

  it('does not verify with another lock', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (other) => {
        expect(isGoodEd25519(made, Buffer.from(other))).toBe(false);
      }),
    );
  });

  it('does not verify with another key', () => {
    expect(isGoodEd25519({ ...made, key: makeKeyPair().publicKey }, LOCK)).toBe(false);
  });

  it('is refused if a single bit differs', () => {
    const bytes = Buffer.from(made.signature, 'base64');
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
        const changed = Buffer.from(bytes);
        changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(isGoodEd25519({ ...made, signature: changed.toString('base64') }, LOCK)).toBe(false);
      }),
    );
  });

  it('cannot be created with another kind of key or with an invalid one', () => {
    const { privateKey: other } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = other.export({ type: 'pkcs8', format: 'pem' });
    expect(() => signLock(LOCK, pem)).toThrow('not an Ed25519 key');
    expect(() => signLock(LOCK, 'nonsense')).toThrow(SkillError);
  });
});

describe('parsing skill.sig', () => {
  const entry = signLock(LOCK, makeKeyPair().privateKey);

  it('returns what was written', () => {
    const file = { version: 1 as const, signatures: [entry] };
    expect(parseSignatures(Buffer.from(formatSignatures(file)))).toEqual(file);
  });

  it.each([
    ['invalid JSON', 'x'],
    ['no signatures', '{"version":1,"signatures":[]}'],
    ['another version', JSON.stringify({ version: 2, signatures: [entry] })],
    ['an unknown kind', '{"version":1,"signatures":[{"type":"rsa"}]}'],
    ['a short key', JSON.stringify({ version: 1, signatures: [{ ...entry, key: 'ed25519:AAAA' }] })],
    ['an unknown field', JSON.stringify({ version: 1, signatures: [{ ...entry, more: 1 }] })],
  ])('refuses %s', (_, text) => {
    expect(() => parseSignatures(Buffer.from(text))).toThrow(
      expect.objectContaining({ code: 'signature_invalid' }) as Error,
    );
  });

  it('accepts only one spelling of a key', () => {
    expect(isPublicKey(entry.key)).toBe(true);
    expect(isPublicKey(`${entry.key}=`)).toBe(false);
    expect(isPublicKey(entry.key.replace('ed25519:', ''))).toBe(false);
  });
});
