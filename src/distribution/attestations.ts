/**
 * What the documents beside a skill say. Whatever is not signed by a publisher of the policy, and about exactly these bytes,
 * is a claim of whoever put it there.
 *
 * @module
 */
import { sha256 } from '../load/digest.ts';
import { publisherMark, type Publisher } from '../trust/publishers.ts';
import { ATTESTATION_KIND_NAMES, type AttestationKind } from '../vocabulary/attestation-kinds.ts';
import { ATTACHMENT_TYPES } from '../vocabulary/oci-types.ts';
import { openEnvelope, parseJson, parseStatement, PREDICATES, STATEMENT_TYPE } from './attest/statement.ts';
import type { Attachment } from './contract.ts';

/** A document beside a skill. */
export interface Attested {
  /** Absent if nothing here knows its type. */
  kind?: string | undefined;
  type: string;
  /** The publisher who signed it for these bytes; absent: it is only a claim. */
  publisher?: string | undefined;
  /** The marks of all publishers who signed it; none: it is only a claim. */
  by: readonly string[];
  /** What the publisher says; absent if it is only a claim. */
  predicate?: Record<string, unknown> | undefined;
}

export interface AttestationContext {
  lock: Buffer | undefined;
  revision: string;
  publishers: readonly Publisher[];
}

export function readAttestations(
  attachments: readonly Attachment[],
  context: AttestationContext,
): Promise<Attested[]> {
  return Promise.all(attachments.map((attachment) => readOne(attachment, context)));
}

async function readOne(attachment: Attachment, context: AttestationContext): Promise<Attested> {
  const { artifactType: type } = attachment;
  let first: Omit<Attested, 'by'> | undefined;
  const by: string[] = [];
  for (const publisher of context.publishers) {
    const payload = await payloadBy(attachment, publisher);
    const statement = payload && parseStatement(payload);
    const kind = statement && kindOfPredicate(statement.predicateType);
    if (!statement || kind === undefined || !isAbout(statement.subjects, context)) continue;
    first ??= { kind, type, publisher: publisher.name, predicate: statement.predicate };
    by.push(publisherMark(publisher));
  }
  return { ...(first ?? { kind: claimedKind(attachment), type }), by };
}

/** The lock covers every file; the revision is the artifact that was fetched. */
function isAbout(subjects: readonly string[], { lock, revision }: AttestationContext): boolean {
  const own = new Set([
    ...(lock ? [sha256(lock)] : []),
    ...(revision.startsWith('sha256:') ? [revision.slice(7)] : []),
  ]);
  return subjects.some((subject) => own.has(subject));
}

async function payloadBy(
  { artifactType, bytes }: Attachment,
  publisher: Publisher,
): Promise<Buffer | undefined> {
  if (artifactType === ATTACHMENT_TYPES.dsse) {
    const opened = 'key' in publisher ? openEnvelope(bytes) : undefined;
    return opened && 'key' in publisher && opened.key === publisher.key ? opened.payload : undefined;
  }
  const bundle = artifactType === ATTACHMENT_TYPES.sigstore ? parseJson(bytes) : undefined;
  if (!('identity' in publisher) || typeof bundle !== 'object' || bundle === null) return undefined;
  // Loaded on demand, because it is slow to load and rarely needed.
  const { sigstorePayload } = await import('../trust/sigstore.ts');
  const found = sigstorePayload(bundle as Record<string, unknown>, publisher);
  return found?.type === STATEMENT_TYPE ? found.payload : undefined;
}

const PROVENANCE = /^https:\/\/slsa\.dev\/provenance\/v(?:0\.2|1)$/;
const SBOMS: readonly RegExp[] = [
  /^https:\/\/cyclonedx\.org\/bom(?:\/v[\d.]+)?$/,
  /^https:\/\/spdx\.dev\/Document(?:\/v[\d.]+)?$/,
];

function kindOfPredicate(type: string): AttestationKind | undefined {
  if (type === PREDICATES.study) return 'study';
  if (PROVENANCE.test(type)) return 'provenance';
  return SBOMS.some((pattern) => pattern.test(type)) ? 'sbom' : undefined;
}

/** What an envelope would be if somebody we know had signed it. */
function claimedKind({ artifactType, bytes }: Attachment): AttestationKind | undefined {
  const opened = artifactType === ATTACHMENT_TYPES.dsse ? openEnvelope(bytes) : undefined;
  const statement = opened && parseStatement(opened.payload);
  return statement ? kindOfPredicate(statement.predicateType) : kindOfType(artifactType);
}

/** By the words that the formats use in their types, in whichever version. */
function kindOfType(type: string): AttestationKind | undefined {
  const plain = type.toLowerCase();
  if (/spdx|cyclonedx|sbom/.test(plain)) return 'sbom';
  return ATTESTATION_KIND_NAMES.find((kind) => plain.includes(kind));
}
