/**
 * Sigstore bundles, checked without a network against a trusted root that the operator supplies: the certificate, its
 * entry in the transparency log, and the signature. Who signed is compared as a whole, never as a pattern.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { bundleFromJSON, isBundleWithMessageSignature } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { SkillError } from '../errors.ts';
import { sha256 } from '../load/digest.ts';
import { signedBytes, type SigstoreSignature } from './signature.ts';

export interface SigstorePublisher {
  name: string;
  /** Who the certificate was made out to, e.g. an e-mail address or the URL of a workflow. */
  identity: string;
  /** Who vouched for that identity. */
  issuer: string;
  /** File with the trusted root, in the JSON that Sigstore's tools write. */
  trustedRoot: string;
  /** What the file was when a person trusted the policy that names it. */
  rootDigest?: string;
}

export function isGoodSigstore(
  { bundle }: SigstoreSignature,
  lock: Buffer,
  publisher: SigstorePublisher,
): boolean {
  const verifier = new Verifier(toTrustMaterial(readRoot(publisher)));
  try {
    const read = bundleFromJSON(bundle);
    // The verifier never compares an attestation (DSSE) with the artifact: it would only prove that somebody signed something.
    if (!isBundleWithMessageSignature(read)) return false;
    const { identity } = verifier.verify(toSignedEntity(read, signedBytes(lock)));
    return (
      identity?.subjectAlternativeName === publisher.identity &&
      identity.extensions?.issuer === publisher.issuer
    );
  } catch {
    // Whatever a stranger's bundle has wrong with it, it is no good signature.
    return false;
  }
}

/** A root that cannot be read is the operator's to mend; silence would look like a bad signature. */
function readRoot({ name, trustedRoot, rootDigest }: SigstorePublisher): TrustedRoot {
  try {
    const bytes = readFileSync(trustedRoot);
    if (rootDigest !== undefined && sha256(bytes) !== rootDigest) throw changedRoot(trustedRoot, name);
    return TrustedRoot.fromJSON(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    if (cause instanceof SkillError) throw cause;
    throw new SkillError('usage', `Cannot read the trusted root "${trustedRoot}" of publisher "${name}"`, {
      fix: 'Correct publishers.sigstore.trusted_root in the policy: a file in the JSON of Sigstore.',
      cause,
    });
  }
}

function changedRoot(file: string, name: string): SkillError {
  return new SkillError(
    'untrusted',
    `The trusted root ${JSON.stringify(file)} of publisher "${name}" changed since its policy was trusted`,
    {
      fix: 'Restore it, or look at it, run `skillcell policy trust` for the policy that names it, and start again.',
      detail: { file, publisher: name },
    },
  );
}
