/**
 * Statements about a skill in the form of in-toto, in a DSSE envelope. One closed form: one subject, one signature, Ed25519. The
 * subject is the lock, which covers every file and the capability set, so a statement stays true on every mirror.
 *
 * @module
 */
import { z } from 'zod';
import { sha256 } from '../../load/digest.ts';
import { isPublicKey, isSignedBy, signBytes } from '../../trust/signature.ts';

export const STATEMENT_TYPE = 'application/vnd.in-toto+json';
const STATEMENT = 'https://in-toto.io/Statement/v1';
const SUBJECT = 'skill.lock';

/** Predicate types that we write and read. */
export const PREDICATES = {
  sbom: 'https://cyclonedx.org/bom',
  study: 'tag:skillcell,2026:study:v1',
} as const;

export interface Statement {
  predicateType: string;
  predicate: Record<string, unknown>;
  /** The sha256 digests that it is about, in hex. */
  subjects: string[];
}

const statement = z.object({
  _type: z.literal(STATEMENT),
  subject: z
    .array(z.object({ digest: z.record(z.string(), z.string()) }))
    .min(1)
    .max(100),
  predicateType: z.string().max(1000),
  predicate: z.record(z.string(), z.unknown()),
});

const envelope = z.strictObject({
  payloadType: z.literal(STATEMENT_TYPE),
  payload: z.base64(),
  signatures: z.tuple([z.strictObject({ keyid: z.string().refine(isPublicKey), sig: z.base64().max(1024) })]),
});

/** A signed envelope with a statement about the skill with this lock. The same input gives the same bytes. */
export function signStatement(
  lock: Buffer,
  { predicateType, predicate }: Pick<Statement, 'predicateType' | 'predicate'>,
  privateKeyPem: string,
): Buffer {
  const subject = [{ name: SUBJECT, digest: { sha256: sha256(lock) } }];
  const payload = Buffer.from(JSON.stringify({ _type: STATEMENT, subject, predicateType, predicate }));
  const { key, signature } = signBytes(paddedPayload(payload), privateKeyPem);
  const signatures = [{ keyid: key, sig: signature }];
  return Buffer.from(
    JSON.stringify({ payloadType: STATEMENT_TYPE, payload: payload.toString('base64'), signatures }),
  );
}

/** The payload of an envelope and the key that signed it; undefined if it is malformed or its signature is wrong. */
export function openEnvelope(bytes: Buffer): { payload: Buffer; key: string } | undefined {
  const parsed = envelope.safeParse(parseJson(bytes));
  if (!parsed.success) return undefined;
  const [{ keyid: key, sig }] = parsed.data.signatures;
  const payload = Buffer.from(parsed.data.payload, 'base64');
  const isGood = isSignedBy({ type: 'ed25519', key, signature: sig }, paddedPayload(payload));
  return isGood ? { payload, key } : undefined;
}

export function parseStatement(payload: Buffer): Statement | undefined {
  const parsed = statement.safeParse(parseJson(payload));
  if (!parsed.success) return undefined;
  const { predicateType, predicate, subject } = parsed.data;
  return { predicateType, predicate, subjects: subject.flatMap(({ digest }) => digest['sha256'] ?? []) };
}

/** The bytes that a signature covers: type and payload with their lengths, so that neither can be taken for the other. */
function paddedPayload(payload: Buffer): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(STATEMENT_TYPE)} ${STATEMENT_TYPE} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
