/**
 * Finds who signed a fetched skill, to pin the signer at first use and to refuse another one later. A key proves only that
 * the same key signed again; whom it belongs to, a policy says.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import type { Signer } from '../load/skills-lock.ts';
import type { Publisher } from './publishers.ts';
import { isGoodEd25519, parseSignatures, type Signature, type SigstoreSignature } from './signature.ts';

export interface FoundSigner {
  signer: Signer;
  /** The name that the policy gives to this signer. */
  publisher?: string | undefined;
  /** Sigstore signatures that no publisher of the policy could verify. */
  unverified: number;
}

export interface SignerSearch {
  publishers: readonly Publisher[];
  /** The signer to prefer if several signed, so that a second signature changes nothing. */
  pinned?: Signer | undefined;
}

/** Throws `signature_invalid` if a signature is not for these bytes. */
export async function findSigner(
  { vouched, manifest }: Pick<Bundle, 'vouched'> & { manifest: Pick<Bundle['manifest'], 'name'> },
  { publishers, pinned }: SignerSearch,
): Promise<FoundSigner> {
  if (!vouched) return { signer: 'unsigned', unverified: 0 };
  const { signatures } = parseSignatures(vouched.signature);
  const keys = signatures.flatMap((one) => (one.type === 'ed25519' ? [one] : []));
  const bad = keys.find((one) => !isGoodEd25519(one, vouched.lock));
  if (bad) throw notForTheseBytes(manifest.name, bad.key);
  const bundles = signatures.filter((one) => one.type === 'sigstore');
  const identities = await verified(bundles, vouched.lock, publishers);
  const found: Signer[] = [...identities.found, ...keys.map(({ key }) => ({ key }))];
  const isKnown = (signer: Signer): boolean => nameOf(signer, publishers) !== undefined;
  const signer =
    found.find((one) => isDeepStrictEqual(one, pinned)) ?? found.find(isKnown) ?? found[0] ?? 'unsigned';
  return { signer, publisher: nameOf(signer, publishers), unverified: identities.unverified };
}

export function isSameSigner(one: Signer, other: Signer): boolean {
  return isDeepStrictEqual(one, other);
}

/** `ed25519:…`, or the identity and who vouches for it. */
export function describeSigner(signer: Signer): string {
  if (signer === 'unsigned') return 'nobody';
  return 'key' in signer ? signer.key : `${signer.identity} (says ${signer.issuer})`;
}

/** Does one of these publishers sign as this signer, so that its signatures can be verified here? */
export function isKnownSigner(signer: Signer, publishers: readonly Publisher[]): boolean {
  return nameOf(signer, publishers) !== undefined;
}

function nameOf(signer: Signer, publishers: readonly Publisher[]): string | undefined {
  return publishers.find((one) => signer !== 'unsigned' && isBy(one, signer))?.name;
}

function isBy(publisher: Publisher, signer: Exclude<Signer, 'unsigned'>): boolean {
  if ('key' in signer) return 'key' in publisher && publisher.key === signer.key;
  return (
    'identity' in publisher && publisher.identity === signer.identity && publisher.issuer === signer.issuer
  );
}

interface Verified {
  found: Signer[];
  unverified: number;
}

async function verified(
  bundles: readonly SigstoreSignature[],
  lock: Buffer,
  publishers: readonly Publisher[],
): Promise<Verified> {
  const result: Verified = { found: [], unverified: 0 };
  if (bundles.length === 0) return result;
  // Loaded on demand, because it is slow to load and rarely needed.
  const { isGoodSigstore } = await import('./sigstore.ts');
  for (const bundle of bundles) {
    const by = publishers.find((one) => 'identity' in one && isGoodSigstore(bundle, lock, one));
    if (by && 'identity' in by) result.found.push({ identity: by.identity, issuer: by.issuer });
    else result.unverified++;
  }
  return result;
}

function notForTheseBytes(name: string, key: Extract<Signature, { type: 'ed25519' }>['key']): SkillError {
  return new SkillError(
    'signature_invalid',
    `The skill "${name}" carries a signature by ${key} that is not valid for its files: one of them was changed`,
    {
      fix: 'Do not use this copy. Get the skill from its publisher, and tell them about it.',
      detail: { skill: name, key },
    },
  );
}
