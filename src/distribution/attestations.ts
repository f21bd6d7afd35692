/**
 * What the documents beside a skill say. Whatever is not signed by a publisher of the policy, and about exactly these bytes,
 * is a claim of whoever put it there.
 *
 * @module
 */
import { ATTESTATION_KIND_NAMES, type AttestationKind } from '../vocabulary/attestation-kinds.ts';
import type { Publisher } from '../trust/publishers.ts';
import type { Attachment } from './contract.ts';

/** A document beside a skill. */
export interface Attested {
  /** Absent if nothing here knows its type. */
  kind?: string | undefined;
  type: string;
  /** The publisher who signed it for these bytes; absent: it is only a claim. */
  publisher?: string | undefined;
}

export interface AttestationContext {
  lock: Buffer | undefined;
  revision: string;
  publishers: readonly Publisher[];
}

export function readAttestations(
  attachments: readonly Attachment[],
  _context: AttestationContext,
): Promise<Attested[]> {
  return Promise.resolve(attachments.map(({ artifactType: type }) => ({ kind: kindOfType(type), type })));
}

/** By the words that the formats use in their types, in whichever version. */
export function kindOfType(type: string): AttestationKind | undefined {
  const plain = type.toLowerCase();
  if (/spdx|cyclonedx|sbom/.test(plain)) return 'sbom';
  return ATTESTATION_KIND_NAMES.find((kind) => plain.includes(kind));
}
