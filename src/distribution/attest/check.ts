/**
 * What the documents beside a skill prove. A document counts only if a publisher of the policy signed it and it is about exactly
 * this skill: its lock, or the artifact that it was fetched as.
 *
 * @module
 */
import { sha256 } from '../../load/digest.ts';
import type { Publisher } from '../../trust/publishers.ts';
import type { AttestationKind } from '../../vocabulary/attestation-kinds.ts';
import { ATTACHMENT_TYPES } from '../../vocabulary/oci-types.ts';
import type { Attachment } from '../contract.ts';
import {
  openEnvelope,
  parseJson,
  parseStatement,
  PREDICATES,
  STATEMENT_TYPE,
  type Statement,
} from './statement.ts';

export interface Attestation {
  readonly kind: AttestationKind;
  /** Name of the publisher in the policy. */
  readonly publisher: string;
  readonly predicate: Record<string, unknown>;
}

/** What attestations have to be about. */
export interface AttestedSkill {
  readonly lock: Buffer | undefined;
  /** Digest of the manifest, if the skill comes from a registry. */
  readonly revision?: string | undefined;
  readonly attachments: readonly Attachment[];
}

/** The attestations that these publishers signed about this skill. Everything else is left out, whatever it claims. */
export async function attestationsOf(
  skill: AttestedSkill,
  publishers: readonly Publisher[],
): Promise<Attestation[]> {
  const subjects = new Set([
    ...(skill.lock ? [sha256(skill.lock)] : []),
    ...(skill.revision?.startsWith('sha256:') ? [skill.revision.slice('sha256:'.length)] : []),
  ]);
  const found: Attestation[] = [];
  for (const publisher of publishers) {
    for (const attachment of skill.attachments) {
      const payload = await payloadBy(attachment, publisher);
      const statement = payload && parseStatement(payload);
      const kind = statement && kindOf(statement);
      if (!statement || kind === undefined || !statement.subjects.some((one) => subjects.has(one))) continue;
      found.push({ kind, publisher: publisher.name, predicate: statement.predicate });
    }
  }
  return found;
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
  const { sigstorePayload } = await import('../../trust/sigstore.ts');
  const found = sigstorePayload(bundle as Record<string, unknown>, publisher);
  return found?.type === STATEMENT_TYPE ? found.payload : undefined;
}

const PROVENANCE = /^https:\/\/slsa\.dev\/provenance\/v(?:0\.2|1)$/;
const SBOMS: readonly RegExp[] = [
  /^https:\/\/cyclonedx\.org\/bom(?:\/v[\d.]+)?$/,
  /^https:\/\/spdx\.dev\/Document(?:\/v[\d.]+)?$/,
];

function kindOf({ predicateType }: Statement): AttestationKind | undefined {
  if (predicateType === PREDICATES.study) return 'study';
  if (PROVENANCE.test(predicateType)) return 'provenance';
  return SBOMS.some((pattern) => pattern.test(predicateType)) ? 'sbom' : undefined;
}
