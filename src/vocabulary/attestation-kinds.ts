/**
 * What an attestation about a skill says.
 *
 * @module
 */

/** How and from which source it was built, what it consists of, and how it behaved when it was studied. */
export const ATTESTATION_KIND_NAMES = ['provenance', 'sbom', 'study'] as const;

export type AttestationKind = (typeof ATTESTATION_KIND_NAMES)[number];
