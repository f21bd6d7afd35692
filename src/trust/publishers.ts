/**
 * Finds the trusted publisher who signed a bundle.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import { sha256 } from '../load/digest.ts';
import { isGoodEd25519, parseSignatures, type Signature } from './signature.ts';
import type { SigstorePublisher } from './sigstore.ts';

export interface KeyPublisher {
  name: string;
  /** `ed25519:…` */
  key: string;
}

export type Publisher = KeyPublisher | SigstorePublisher;

/** What tells publishers apart whatever they are called: two policy files may give one name to two keys. */
export function publisherMark(publisher: Publisher): string {
  if ('key' in publisher) return publisher.key;
  const { identity, issuer, trustedRoot, rootDigest = '' } = publisher;
  return `sigstore:${sha256(JSON.stringify([identity, issuer, trustedRoot, rootDigest]))}`;
}

/** The parts of a bundle that a signature is about. */
export type SignedBundle = Pick<Bundle, 'manifest' | 'vouched' | 'lock'>;

/** The publisher who signed exactly this bundle; throws `signature_invalid` if none did. */
export async function publisherOf(
  bundle: SignedBundle,
  publishers: readonly Publisher[],
): Promise<Publisher> {
  const { name } = bundle.manifest;
  const { vouched } = bundle;
  if (!vouched)
    throw unsigned(name, bundle.lock === 'locked' ? 'it has no skill.sig' : 'it has no skill.lock');
  const { signatures } = parseSignatures(vouched.signature);
  for (const publisher of publishers)
    for (const signature of signatures) if (await isBy(publisher, signature, vouched.lock)) return publisher;
  const known = publishers.map((publisher) => publisher.name).join(', ');
  throw unsigned(
    name,
    `it has no valid signature by a trusted publisher (${known || 'the policy names none'})`,
  );
}

async function isBy(publisher: Publisher, signature: Signature, lock: Buffer): Promise<boolean> {
  if (signature.type === 'ed25519')
    return 'key' in publisher && signature.key === publisher.key && isGoodEd25519(signature, lock);
  if (!('identity' in publisher)) return false;
  // Loaded on demand, because it is slow to load and rarely needed.
  const { isGoodSigstore } = await import('./sigstore.ts');
  return isGoodSigstore(signature, lock, publisher);
}

function unsigned(name: string, reason: string): SkillError {
  return new SkillError('signature_invalid', `The signature of "${name}" is required, but ${reason}`, {
    fix: 'Get a signed copy from its publisher, or have the operator add the publisher to the policy.',
    detail: { skill: name, reason },
  });
}
