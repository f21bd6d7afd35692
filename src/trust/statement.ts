/**
 * Verifies signed statements (DSSE envelopes): those signed with an Ed25519 key, and those that Sigstore's tools make. Who
 * calls this compares what the statement is about.
 *
 * @module
 */
import { verify } from 'node:crypto';
import { z } from 'zod';
import type { Publisher } from './publishers.ts';
import { ed25519PublicKey } from './signature.ts';

export interface ReadStatement {
  /** The statement, signed or not. */
  payload: Buffer;
  /** The publisher who signed it; absent if none of the known ones did. */
  publisher?: string | undefined;
}

export const STATEMENT_TYPE = 'application/vnd.in-toto+json';

const envelope = z.object({
  payloadType: z.literal(STATEMENT_TYPE),
  payload: z.base64().max(8 * 1024 * 1024),
  signatures: z.array(z.object({ sig: z.base64().max(4096) })).max(16),
});
const sigstoreBundle = z.object({ dsseEnvelope: envelope });

/** Undefined if the document is no statement. */
export async function verifyStatement(
  document: unknown,
  publishers: readonly Publisher[],
): Promise<ReadStatement | undefined> {
  const bundle = sigstoreBundle.safeParse(document).data;
  const found = bundle?.dsseEnvelope ?? envelope.safeParse(document).data;
  if (!found) return undefined;
  const payload = Buffer.from(found.payload, 'base64');
  const signed = signedForm(payload);
  const signatures = found.signatures.map(({ sig }) => Buffer.from(sig, 'base64'));
  const byKey = publishers.find(
    (one) =>
      'key' in one && signatures.some((signature) => verify(null, signed, ed25519PublicKey(one.key), signature)),
  );
  const publisher = byKey ?? (bundle ? await sigstorePublisher(document, publishers) : undefined);
  return { payload, ...(publisher ? { publisher: publisher.name } : {}) };
}

/** The bytes that a signature of an envelope covers: lengths and texts, so that no part can pass for another. */
export function signedForm(payload: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${STATEMENT_TYPE.length} ${STATEMENT_TYPE} ${payload.length} `),
    payload,
  ]);
}

async function sigstorePublisher(
  document: unknown,
  publishers: readonly Publisher[],
): Promise<Publisher | undefined> {
  // Loaded on demand, because it is slow to load and rarely needed.
  const { isGoodSigstoreStatement } = await import('./sigstore.ts');
  return publishers.find((one) => 'identity' in one && isGoodSigstoreStatement(document, one));
}
