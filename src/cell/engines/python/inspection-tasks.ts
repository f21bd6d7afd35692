/**
 * Reads the reply of an inspector. The reply is untrusted: it is capped, and a worker thread parses large ones.
 *
 * @module
 */
import { z } from 'zod';
import type { Inspection } from '../../../load/inspection.ts';
import { besideThis, type Task, type Tasks } from '../../../offload/task.ts';
import type { UnreadForm } from '../../contract.ts';
import { readReply, type ReadReply } from '../../protocol/read-reply.ts';

/** Per kind of finding; more than the largest honest bundle has. */
export const MAX_FINDINGS = 20_000;

const findings = z
  .array(z.object({ value: z.string().max(4000), at: z.string().max(2000) }))
  .max(MAX_FINDINGS);
export const inspectionSchema: z.ZodType<Inspection> = z.object({
  modules: findings,
  loads: findings.optional(),
  interfaces: findings.default([]),
  env: findings,
  hosts: findings,
  unparsed: findings,
  calls: findings.optional(),
});
export const replySchema: z.ZodType<InspectorReply> = z.object({
  findings: inspectionSchema,
  bytecode: z.record(z.string(), z.base64()),
});

export interface InspectorReply {
  findings: Inspection;
  bytecode: Record<string, string>;
}

interface UnreadInspection {
  form: UnreadForm;
  bytes: Uint8Array;
}

/** The findings, or the failure that the inspector reported. */
export type ReadInspection = { answer: InspectorReply } | { reply: Exclude<ReadReply, { kind: 'result' }> };

export const READ_INSPECTION: Task<UnreadInspection, ReadInspection> = {
  module: besideThis(import.meta.url, './inspection-tasks'),
  name: 'readInspection',
};

function readInspection({ form, bytes }: UnreadInspection): ReadInspection {
  const reply = readReply(form, bytes);
  if (reply.kind !== 'result') return { reply };
  const parsed = replySchema.safeParse(reply.value);
  return parsed.success
    ? { answer: parsed.data }
    : { reply: { kind: 'broken', message: 'its findings are too many or malformed' } };
}

export const tasks: Tasks = { readInspection };
