/**
 * Signatures of bundles. A signature covers the lock, which lists every file and the capability set. It is stored next to
 * the lock in `skill.sig` and is not part of the bundle, so that adding one does not change the digest.
 *
 * @module
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { SkillError } from '../errors.ts';
import { sha256 } from '../load/digest.ts';

const KEY_PREFIX = 'ed25519:';
/** Keeps a signature from being valid for another purpose. */
const PURPOSE = 'skillcell lock signature v1';
const MAX_SIGNATURES = 16;
const MAX_BYTES = 1024 * 1024;
/** An Ed25519 public key in DER is this header followed by the 32 bytes of the key. */
const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex');

export interface Ed25519Signature {
  type: 'ed25519';
  key: string;
  signature: string;
}

export interface SigstoreSignature {
  type: 'sigstore';
  /** A Sigstore bundle as Sigstore's tools write it. */
  bundle: Record<string, unknown>;
}

/** A signature over the lock of a skill. */
export type Signature = Ed25519Signature | SigstoreSignature;

export interface SignatureFile {
  version: 1;
  signatures: Signature[];
}

const base64 = z.base64().max(1024);
const schema: z.ZodType<SignatureFile> = z.strictObject({
  version: z.literal(1),
  signatures: z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject({
          type: z.literal('ed25519'),
          key: z.string().refine(isPublicKey),
          signature: base64,
        }),
        z.strictObject({ type: z.literal('sigstore'), bundle: z.record(z.string(), z.unknown()) }),
      ]),
    )
    .min(1)
    .max(MAX_SIGNATURES),
});

/** The bytes that a signature covers. */
export function signedBytes(lock: Buffer): Buffer {
  return Buffer.from(`${PURPOSE}\nsha256:${sha256(lock)}\n`);
}

/** Creates an Ed25519 key pair for signing. */
export function makeKeyPair(): { privateKey: string; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(SPKI_HEADER.length);
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    publicKey: KEY_PREFIX + raw.toString('base64'),
  };
}

/** Signs a lock with a private key in PEM. */
export function signLock(lock: Buffer, privateKeyPem: string): Ed25519Signature {
  return signBytes(signedBytes(lock), privateKeyPem);
}

/** Signs bytes that say themselves what they are for, so that the signature is not valid for another purpose. */
export function signBytes(bytes: Buffer, privateKeyPem: string): Ed25519Signature {
  const key = readPrivateKey(privateKeyPem);
  const raw = createPublicKey(key).export({ type: 'spki', format: 'der' }).subarray(SPKI_HEADER.length);
  return {
    type: 'ed25519',
    key: KEY_PREFIX + raw.toString('base64'),
    signature: sign(null, bytes, key).toString('base64'),
  };
}

function readPrivateKey(pem: string): ReturnType<typeof createPrivateKey> {
  const fix = 'Pass a file with an Ed25519 private key in PEM; `skillcell sign --new-key FILE` creates one.';
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch (cause) {
    throw new SkillError('usage', 'The private key cannot be read', { fix, cause });
  }
  throw new SkillError('usage', 'The private key is not an Ed25519 key', { fix });
}

/** Verifies a signature over a lock. */
export function isGoodEd25519(signature: Ed25519Signature, lock: Buffer): boolean {
  return isSignedBy(signature, signedBytes(lock));
}

/** Verifies a signature over bytes. */
export function isSignedBy({ key, signature }: Ed25519Signature, bytes: Buffer): boolean {
  const raw = Buffer.from(key.slice(KEY_PREFIX.length), 'base64');
  const publicKey = createPublicKey({
    key: Buffer.concat([SPKI_HEADER, raw]),
    format: 'der',
    type: 'spki',
  });
  return verify(null, bytes, publicKey, Buffer.from(signature, 'base64'));
}

/** `ed25519:` and the 32 bytes of a key in base64. */
export function isPublicKey(text: string): boolean {
  if (!text.startsWith(KEY_PREFIX)) return false;
  const raw = Buffer.from(text.slice(KEY_PREFIX.length), 'base64');
  return raw.length === 32 && KEY_PREFIX + raw.toString('base64') === text;
}

/** Parses `skill.sig`. */
export function parseSignatures(bytes: Buffer): SignatureFile {
  const parsed = bytes.length > MAX_BYTES ? undefined : schema.safeParse(readJson(bytes));
  if (parsed?.success) return parsed.data;
  const reason = parsed ? z.prettifyError(parsed.error).replaceAll('\n', ' ') : 'it is too large';
  throw new SkillError('signature_invalid', `The file "skill.sig" cannot be read: ${reason}`, {
    fix: 'Have the publisher sign the skill again with `skillcell sign`.',
  });
}

function readJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Adds a signature; replaces an older one by the same key. */
export function withSignature(present: readonly Signature[], added: Signature): Signature[] {
  const isReplaced = (one: Signature): boolean =>
    one.type === 'ed25519' && added.type === 'ed25519' && one.key === added.key;
  return [...present.filter((one) => !isReplaced(one)), added];
}

/** Signatures as text for `skill.sig`. */
export function formatSignatures(file: SignatureFile): string {
  return `${JSON.stringify(file, null, 2)}\n`;
}
