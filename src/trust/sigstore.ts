/**
 * Verifies Sigstore bundles offline against a trusted root that the operator supplies: the certificate, its entry in the
 * transparency log, and the signature. The signer's identity must be equal, never just match a pattern.
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
  /** Subject of the certificate, e.g. an e-mail address or the URL of a workflow. */
  identity: string;
  /** The identity provider that vouched for the subject. */
  issuer: string;
  /** File with the trusted root, in the JSON that Sigstore's tools write. */
  trustedRoot: string;
  /** Digest of the file when a person trusted the policy that names it. */
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
    // The verifier does not compare an attestation (DSSE) with the artifact, so it would prove nothing about this lock.
    if (!isBundleWithMessageSignature(read)) return false;
    const { identity } = verifier.verify(toSignedEntity(read, signedBytes(lock)));
    return (
      identity?.subjectAlternativeName === publisher.identity &&
      identity.extensions?.issuer === publisher.issuer
    );
  } catch {
    // A malformed bundle is not a valid signature, whatever is wrong with it.
    return false;
  }
}

/** Throws if the root cannot be read: the operator must fix it, and silence would look like a bad signature. */
function readRoot({ name, trustedRoot, rootDigest }: SigstorePublisher): TrustedRoot {
  try {
    const bytes = readFileSync(trustedRoot);
    if (rootDigest !== undefined && sha256(bytes) !== rootDigest) throw changedRoot(trustedRoot, name);
    return TrustedRoot.fromJSON(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    if (cause instanceof SkillError) throw cause;
    throw new SkillError('usage', `Cannot read the trusted root "${trustedRoot}" of publisher "${name}"`, {
      fix: 'Set publishers.sigstore.trusted_root in the policy to a trusted root file in the JSON of Sigstore.',
      cause,
    });
  }
}

function changedRoot(file: string, name: string): SkillError {
  return new SkillError(
    'untrusted',
    `The trusted root ${JSON.stringify(file)} of publisher "${name}" has changed since its policy was trusted`,
    {
      fix: 'Restore it, or review it, run `skillcell policy trust` for the policy that names it, and start again.',
      detail: { file, publisher: name },
    },
  );
}
