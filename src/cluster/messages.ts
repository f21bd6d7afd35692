/**
 * What processes of a cluster say to each other. Everything read here is checked: a message can only ask, and a broken or
 * hostile sender must not mislead the reader.
 *
 * @module
 */
import { z } from 'zod';
import type { Row } from '../audit/queries.ts';
import type { ErrorBody } from '../errors.ts';
import type { Outcome, SkillIdentity } from '../outcome.ts';
import { skillNameProblem } from '../manifest/names.ts';
import { ERROR_CODES } from '../vocabulary/error-codes.ts';
import { KIND_NAMES, type Kind } from '../vocabulary/kinds.ts';
import { MODE_NAMES, type Mode } from '../vocabulary/modes.ts';
import { OUTPUT_STREAM_NAMES, type OutputStream } from '../vocabulary/streams.ts';
import { malformed, readFrame } from './frame.ts';

const tokenSchema = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
const textSchema = z.string().max(1024);
const callIdSchema = z.string().regex(/^[0-9A-HJKMNP-TV-Z]{26}$/);
/** A name never is a path: workers look for the skill under it. */
const skillNameSchema = z.string().refine((name) => skillNameProblem(name) === undefined);
const digestSchema = z.string().regex(/^(?:sha256:)?[0-9a-f]{64}$/);

/** The head of a call. Its tenant is in the subject, where the server has checked it, and never in here. */
const callSchema = z.strictObject({
  v: z.literal(1),
  id: callIdSchema,
  /** The process that waits for the answer. */
  front: tokenSchema,
  skill: z.strictObject({ name: skillNameSchema, digest: digestSchema }),
  caller: textSchema,
  kind: z.enum(KIND_NAMES).optional(),
  timeout: z.number().positive().optional(),
  memory: z.number().positive().optional(),
  execution: z.enum(MODE_NAMES).optional(),
  isolated: z.boolean(),
  trace: z.strictObject({ traceparent: textSchema, tracestate: textSchema.optional() }).optional(),
  /** Milliseconds since 1970, after which it may not begin. */
  beginBefore: z.number(),
  /** The parameters are in the object store. */
  isLarge: z.boolean().optional(),
  /** Keep the outcome for a repeated request. */
  keeps: z.boolean().optional(),
});
export interface CallHead {
  v: 1;
  id: string;
  front: string;
  skill: { name: string; digest: string };
  caller: string;
  kind?: Kind | undefined;
  timeout?: number | undefined;
  memory?: number | undefined;
  execution?: Mode | undefined;
  isolated: boolean;
  trace?: { traceparent: string; tracestate?: string | undefined } | undefined;
  beginBefore: number;
  isLarge?: boolean | undefined;
  keeps?: boolean | undefined;
}

/** Heads of calls hold no parameters. */
const MAX_CALL_HEAD = 8 * 1024;

export function readCall(bytes: Uint8Array): { head: CallHead; body: Uint8Array } {
  const { head, body } = readFrame(bytes, MAX_CALL_HEAD);
  return { head: checked(callSchema, head), body };
}

const placeSchema = z.looseObject({ mode: z.enum(MODE_NAMES), wall: z.string(), engine: z.string() });
const identitySchema = z.looseObject({ name: z.string(), version: z.string(), digest: z.string() });
const eventsSchema = z.array(
  z.looseObject({ capability: z.string(), asked: z.string(), declared: z.string() }),
);
/** Counted for quotas, so that a negative number would give back what a tenant has used. */
const amountSchema = z.number().min(0);
const usageSchema = z.looseObject({
  wall_ms: amountSchema,
  cpu_ms: amountSchema,
  memory_peak_bytes: amountSchema,
  fuel: amountSchema,
  output_bytes: amountSchema,
  host_calls: amountSchema,
});
const outcomeSchema = z.looseObject({
  ok: z.boolean(),
  call_id: callIdSchema,
  skill: identitySchema,
  execution: placeSchema.optional(),
  usage: usageSchema,
  capabilities: z.looseObject({ used: eventsSchema, denied: eventsSchema }),
  logs: z.string(),
  warnings: z.array(z.string()),
  error: z
    .looseObject({
      code: z.enum(ERROR_CODES),
      message: z.string(),
      fix: z.string(),
      detail: z.record(z.string(), z.unknown()),
    })
    .optional(),
});

const replySchema: z.ZodType<Reply> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('accepted'), worker: tokenSchema }),
  z.strictObject({ type: z.literal('alive'), worker: tokenSchema }),
  z.strictObject({ type: z.literal('started'), skill: identitySchema, execution: placeSchema }),
  z.strictObject({
    type: z.literal('log'),
    text: z.string(),
    stream: z.enum(OUTPUT_STREAM_NAMES).optional(),
  }),
  z.strictObject({ type: z.literal('done'), outcome: outcomeSchema, isStored: z.boolean().optional() }),
  /** Whether it ran to its end is not known: its worker was lost. */
  z.strictObject({ type: z.literal('lost'), worker: tokenSchema }),
]);

/** What a worker says about a call. The result of `done` is the body of the frame. */
export type Reply =
  | { type: 'accepted' | 'alive' | 'lost'; worker: string }
  | { type: 'started'; skill: SkillIdentity; execution: SentPlace }
  | { type: 'log'; text: string; stream?: OutputStream | undefined }
  | { type: 'done'; outcome: SentOutcome; isStored?: boolean | undefined };

/** As checked: the tables of walls and engines may differ between versions, the modes may not. */
export interface SentPlace {
  mode: Mode;
  wall: string;
  engine: string;
}

/** An outcome as checked, without its result. */
export interface SentOutcome {
  ok: boolean;
  call_id: string;
  skill: SkillIdentity;
  error?: ErrorBody | undefined;
}

export function readReply(bytes: Uint8Array): { reply: Reply; body: Uint8Array } {
  const { head, body } = readFrame(bytes);
  return { reply: checked(replySchema, head), body };
}

/** The outcome of a `done`, without a result; its shape is checked. */
export function outcomeOf(
  reply: Reply & { type: 'done' },
  { id, skill }: Pick<CallHead, 'id' | 'skill'>,
): Outcome {
  const { outcome } = reply;
  if (outcome.call_id !== id) throw malformed('the outcome is that of another call');
  if (outcome.ok === (outcome.error !== undefined)) throw malformed('the outcome contradicts itself');
  if (outcome.ok && (outcome.skill.name !== skill.name || outcome.skill.digest !== skill.digest))
    throw malformed('the outcome is that of another skill');
  return outcome as unknown as Outcome;
}

/** What a worker announces every second. */
const announcementSchema = z.strictObject({
  v: z.literal(1),
  name: tokenSchema,
  /** Different for every start of the process. */
  boot: tokenSchema,
  pool: z.string().regex(/^[a-z0-9]{1,32}$/),
  /** Absent: every tenant. */
  tenants: z.array(tokenSchema).max(10_000).optional(),
  version: textSchema,
  policy: digestSchema,
  slots: z.int().min(1),
  running: z.int().min(0),
  isDraining: z.boolean(),
  /** Pairs that work here, each with the fields that nobody enforces. */
  pairs: z
    .array(
      z.strictObject({
        mode: z.enum(MODE_NAMES),
        wall: textSchema,
        engine: textSchema,
        unenforced: z.array(textSchema).max(200),
      }),
    )
    .max(100),
  /** Digests of skills that it has loaded, the latest last. */
  warm: z.array(digestSchema).max(64),
});
export interface Announcement {
  v: 1;
  name: string;
  boot: string;
  pool: string;
  tenants?: string[] | undefined;
  version: string;
  policy: string;
  slots: number;
  running: number;
  isDraining: boolean;
  pairs: { mode: Mode; wall: string; engine: string; unenforced: string[] }[];
  warm: string[];
}

const MAX_ANNOUNCEMENT = 512 * 1024;

export function readAnnouncement(bytes: Uint8Array): Announcement {
  if (bytes.length > MAX_ANNOUNCEMENT) throw malformed('an announcement is too large');
  return checked(announcementSchema, parse(bytes));
}

/** Who may begin a call: whoever created its mark. */
const markSchema = z.strictObject({
  state: z.enum(['begun', 'done', 'cancelled']),
  /** The worker that runs it, or the front end that took it back. Its chain has the receipt. */
  by: tokenSchema,
  /** Tells apart two attempts of the same process. */
  nonce: tokenSchema,
  /** The outcome is in the object store. */
  isStored: z.boolean().optional(),
});
export interface Mark {
  state: 'begun' | 'done' | 'cancelled';
  by: string;
  nonce: string;
  isStored?: boolean | undefined;
}

export function readMark(bytes: Uint8Array): Mark {
  return checked(markSchema, parse(bytes));
}

const keySchema = z.strictObject({ id: callIdSchema, request: digestSchema });
/** The call of an idempotency key, and what was asked. */
export interface KeyEntry {
  id: string;
  request: string;
}

export function readKeyEntry(bytes: Uint8Array): KeyEntry {
  return checked(keySchema, parse(bytes));
}

const rowSchema = z.strictObject({
  seq: z.int().min(1),
  prev: z.string().regex(/^[0-9a-f]{64}$/),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  body: z.string(),
});

/** An exact row of a chain of receipts. */
export function readRow(bytes: Uint8Array): Row {
  return checked(rowSchema, parse(bytes));
}

export function encode(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    throw malformed('it is not JSON');
  }
}

function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw malformed(`${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim());
}
