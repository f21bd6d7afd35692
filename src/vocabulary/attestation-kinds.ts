/**
 * What an attestation about a skill says.
 *
 * @module
 */
import { choicesIn, type Choices } from './table.ts';

const ATTESTATION_KINDS = {
  provenance: { says: 'how and from which source it was built' },
  sbom: { says: 'what it consists of' },
  study: { says: 'how it behaved when it was studied' },
} as const;

export type AttestationKind = keyof typeof ATTESTATION_KINDS;

export const ATTESTATION_KIND_NAMES: Choices<AttestationKind> = choicesIn(ATTESTATION_KINDS);
