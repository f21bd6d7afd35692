/**
 * Verifies Sigstore bundles offline against a trusted root that the operator supplies: the certificate, its entry in the
 * transparency log, and the signature. The signer's identity must be equal, never just match a pattern.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import {
  type Bundle,
  bundleFromJSON,
  isBundleWithDsseEnvelope,
  isBundleWithMessageSignature,
} from '@sigstore/bundle';
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
  try {
    const read = bundleFromJSON(bundle);
    // The verifier does not compare an attestation (DSSE) with the artifact, so it would prove nothing about this lock.
    return isBundleWithMessageSignature(read) && isBy(publisher, read, signedBytes(lock));
  } catch (error) {
    return malformed(error);
  }
}

/** The payload of an attestation (DSSE) in a Sigstore bundle, if this publisher signed it. What it says is not checked. */
export function sigstorePayload(
  bundle: Record<string, unknown>,
  publisher: SigstorePublisher,
): { type: string; payload: Buffer } | undefined {
  try {
    const read = bundleFromJSON(bundle);
    if (!isBundleWithDsseEnvelope(read) || !isBy(publisher, read)) return undefined;
    const { payload, payloadType } = read.content.dsseEnvelope;
    return { type: payloadType, payload };
  } catch (error) {
    malformed(error);
    return undefined;
  }
}

function isBy(publisher: SigstorePublisher, bundle: Bundle, artifact?: Buffer): boolean {
  const verifier = new Verifier(toTrustMaterial(readRoot(publisher)));
  const { identity } = verifier.verify(toSignedEntity(bundle, artifact));
  return (
    identity?.subjectAlternativeName === publisher.identity &&
    identity.extensions?.issuer === publisher.issuer
  );
}

/** A malformed bundle is not a valid signature, whatever is wrong with it; a problem of the operator is reported. */
function malformed(error: unknown): false {
  if (error instanceof SkillError) throw error;
  return false;
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
      fix: 'Set publishers.sigstore.trusted_root in the policy to the JSON file of a Sigstore trusted root.',
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
