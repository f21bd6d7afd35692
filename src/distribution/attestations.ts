/**
 * Reads what attestations beside a skill say. Whatever is not signed by a publisher of the policy, and about exactly these
 * bytes, is a claim of whoever put it there.
 *
 * @module
 */
import { z } from 'zod';
import type { Publisher } from '../trust/publishers.ts';
import { verifyStatement } from '../trust/statement.ts';
import { ATTESTATION_KIND_NAMES, type AttestationKind } from '../vocabulary/attestation-kinds.ts';
import type { Attachment } from './contract.ts';

/** An attestation beside a skill. */
export interface Attested {
  /** Absent if nothing here knows its type. */
  kind?: string | undefined;
  type: string;
  /** The publisher who signed it for these bytes; absent: it is only a claim. */
  publisher?: string | undefined;
}

export interface AttestationContext {
  /** Digests that name these bytes: of the bundle, and what the source calls it. */
  digests: readonly string[];
  publishers: readonly Publisher[];
}

const MAX_ATTACHMENTS = 32;
const MAX_BYTES = 4 * 1024 * 1024;

const statement = z.object({
  subject: z.array(z.object({ digest: z.record(z.string(), z.string()) })).max(64),
  predicateType: z.string().max(500),
});

export async function readAttestations(
  attachments: readonly Attachment[],
  context: AttestationContext,
): Promise<Attested[]> {
  const found: Attested[] = [];
  for (const attachment of attachments.slice(0, MAX_ATTACHMENTS)) {
    const one = await readOne(attachment, context);
    if (one) found.push(one);
  }
  return found;
}

async function readOne(
  { artifactType, bytes }: Attachment,
  { digests, publishers }: AttestationContext,
): Promise<Attested | undefined> {
  const document = bytes.length > MAX_BYTES ? undefined : readJson(bytes);
  const envelope = await verifyStatement(document, publishers);
  if (!envelope) {
    const kind = kindOfType(artifactType);
    return kind === undefined ? undefined : { kind, type: artifactType };
  }
  const said = statement.safeParse(readJson(envelope.payload)).data;
  if (!said) return undefined;
  const { predicateType: type, subject } = said;
  const isAboutThese = subject.some(({ digest }) => digests.includes(`sha256:${digest['sha256'] ?? ''}`));
  const kind = kindOfType(type);
  return { kind, type, ...(isAboutThese ? { publisher: envelope.publisher } : {}) };
}

/** By the words that the formats use in their types, in whichever version. */
export function kindOfType(type: string): AttestationKind | undefined {
  const plain = type.toLowerCase();
  if (/spdx|cyclonedx|sbom/.test(plain)) return 'sbom';
  return ATTESTATION_KIND_NAMES.find((kind) => plain.includes(kind));
}

function readJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
