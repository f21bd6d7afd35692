/**
 * Schemas of the answers, for the OpenAPI document. Tests check real answers against them.
 *
 * @module
 */
import { z } from 'zod';
import { CAPABILITY_NAMES } from '../vocabulary/capabilities.ts';
import { DECISION_NAMES } from '../vocabulary/decisions.ts';
import { ERROR_CODES } from '../vocabulary/error-codes.ts';
import { KIND_NAMES } from '../vocabulary/kinds.ts';
import { MODE_NAMES } from '../vocabulary/modes.ts';
import { RISKS } from '../vocabulary/risks.ts';
import { WALL_NAMES } from '../vocabulary/walls.ts';
import { API_SCHEMAS } from './schema-registry.ts';

/** A schema with a name of its own in the document. */
function named<Shape extends z.ZodRawShape>(id: string, shape: Shape): z.ZodObject<Shape> {
  return z.object(shape).register(API_SCHEMAS, { id });
}

const count = z.int().min(0);
const amount = z.number().min(0);

const capabilityEvent = named('CapabilityEvent', {
  capability: z.enum(CAPABILITY_NAMES),
  asked: z.string(),
  declared: z.string(),
});

const eventsCut = z
  .object({ used: count, denied: count })
  .describe('Number of events that are not in the lists; absent if all are.')
  .register(API_SCHEMAS, { id: 'EventsCut' });

const skillIdentity = named('SkillIdentity', { name: z.string(), version: z.string(), digest: z.string() });

const usage = named('Usage', {
  wall_ms: amount,
  cpu_ms: amount,
  memory_peak_bytes: amount,
  fuel: amount,
  output_bytes: count,
  host_calls: count,
});

const execution = named('Execution', {
  mode: z.enum(MODE_NAMES),
  wall: z.enum(WALL_NAMES),
  engine: z.string(),
  fresh: z.boolean(),
  start: z.string(),
  image: z.string().optional().describe('Digest of the container image.'),
  packages: z.string().optional().describe('Digest of the wheels of its requirements.'),
  generated: z
    .string()
    .optional()
    .describe('sha256 of code that came with the call: of a program, or for a skill of scripts.'),
});

const errorBody = named('ErrorBody', {
  code: z.enum(ERROR_CODES),
  message: z.string().describe('What happened and why.'),
  fix: z.string().describe('How to fix it.'),
  detail: z.record(z.string(), z.unknown()),
});

export const errorAnswer: z.ZodType = z
  .object({ ok: z.literal(false), error: errorBody })
  .describe('Nothing ran.')
  .register(API_SCHEMAS, { id: 'Error' });

const callFields = {
  call_id: z.string(),
  skill: skillIdentity,
  execution: execution.optional(),
  usage,
  capabilities: z.object({
    used: z.array(capabilityEvent),
    denied: z.array(capabilityEvent),
    cut: eventsCut.optional(),
  }),
  logs: z.string(),
  warnings: z.array(z.string()),
  children: z
    .array(
      z.object({
        call_id: z.string(),
        parent: z.string(),
        depth: count,
        skill: z.string(),
        digest: z.string(),
        code: z.enum(['ok', ...ERROR_CODES]),
        wall_ms: amount,
      }),
    )
    .optional()
    .describe('The calls inside, in order of their end; absent if there are none.'),
  children_cut: count.optional().describe('Number of calls inside that are not listed.'),
  flows: z
    .array(z.object({ to: z.string(), from: z.array(z.string()) }))
    .optional()
    .describe('Which skills with network or secrets may have seen data of which others.'),
};

export const success: z.ZodType = named('Success', {
  ok: z.literal(true),
  result: z.unknown(),
  ...callFields,
});
export const failure: z.ZodType = named('Failure', { ok: z.literal(false), error: errorBody, ...callFields });

const receipt: z.ZodType = z
  .object({
    call_id: z.string(),
    parent: z.string().optional().describe('The call that made this one; absent if none did.'),
    root: z.string().optional().describe('The call that began the tree; absent with `parent`.'),
    depth: count.optional().describe('Number of calls above this one; absent with `parent`.'),
    started_at: z.string(),
    caller: z.string(),
    skill: skillIdentity,
    origin: z.string(),
    lock: z.string(),
    execution: execution.optional(),
    code: z.enum(['ok', ...ERROR_CODES]),
    limit: z.string().optional(),
    message: z.string().optional(),
    usage,
    used: z.array(capabilityEvent),
    denied: z.array(capabilityEvent),
    denied_count: count,
    cut: eventsCut.optional(),
    grant_digest: z.string(),
    params_digest: z.string(),
    result_digest: z.string().optional(),
  })
  .loose()
  .register(API_SCHEMAS, { id: 'Receipt' });

export const storedReceipt: z.ZodType = named('StoredReceipt', {
  seq: count.optional().describe('Position in the log of all tenants; only for `admin`.'),
  hash: z.string().optional().describe('Its link in the chain of all tenants; only for `admin`.'),
  receipt,
});

export const receiptList: z.ZodType = named('Receipts', {
  receipts: z.array(storedReceipt),
  older: z.string().optional().describe('There may be more: pass this as `before`.'),
});

export const verification: z.ZodType = named('Verification', {
  ok: z.boolean(),
  count,
  head: z.string(),
  brokenAt: count.optional(),
  reason: z.string().optional(),
});

export const liveCall: z.ZodType = named('LiveCall', {
  call_id: z.string(),
  skill: z.string(),
  caller: z.string(),
  started_at: z.string(),
  state: z.enum(['waiting', 'running']),
});

export const callList: z.ZodType = named('Calls', {
  running: z.array(liveCall),
  past: z.array(storedReceipt),
  older: z.string().optional().describe('There may be more past calls: pass this as `before`.'),
});

export const callState: z.ZodType = z
  .union([
    z.object({ state: z.literal('running'), call: liveCall }),
    z.object({ state: z.literal('ended'), receipt: storedReceipt }),
  ])
  .register(API_SCHEMAS, { id: 'CallState' });

const badge = named('Badge', { risk: z.enum(RISKS), label: z.string() });

const skillRow = {
  name: z.string(),
  version: z.string(),
  about: z.string(),
  origin: z.string(),
  trust: z.string(),
  profile: z.string(),
  lock: z.string(),
  digest: z.string(),
  mode: z.string().nullable().describe('The mode a call would run in; null if this machine supports none.'),
  badges: z.array(badge),
  uploaded: z.boolean().optional().describe('True for a skill that this tenant uploaded.'),
  problem: errorBody.optional().describe('Why the skill cannot be called.'),
};

const skillSummary: z.ZodType = named('SkillSummary', skillRow);
export const skillList: z.ZodType = named('Skills', { skills: z.array(skillSummary) });

const enforcement = named('Enforcement', { field: z.string(), by: z.string(), how: z.string() });

const explainedCapability = named('ExplainedCapability', {
  capability: z.string(),
  declared: z.string(),
  policy: z.string(),
  approval: z.string(),
  granted: z.string(),
});

export const skillPage: z.ZodType = named('SkillPage', {
  ...skillRow,
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()).describe('JSON Schema of the parameters.'),
  outputs: z.record(z.string(), z.unknown()),
  manifest: z.record(z.string(), z.unknown()),
  declares: z.array(z.string()),
  asks: z.array(z.object({ risk: z.enum(RISKS), text: z.string() })),
  pins: z.array(z.string()).describe('The image and packages that a call would use here.'),
  approval: z.object({
    decision: z.enum(DECISION_NAMES),
    state: z.enum(['approved', 'none', 'changed']),
    by: z.string().optional(),
    at: z.string().optional(),
    diff: z.array(z.string()).optional(),
  }),
  kind: z.enum(KIND_NAMES).describe('`script` and `instructions` are Agent Skills folders.'),
  files: z.array(z.string()),
  file_digests: z.record(z.string(), z.string()).describe('sha256 of every file, by its path.'),
  warnings: z.array(z.string()),
  instructions: z.string().optional(),
  card: z.record(z.string(), z.unknown()).optional(),
  plan: z
    .object({
      mode: z.string(),
      wall: z.string(),
      engine: z.string(),
      reason: z.string(),
      enforces: z.array(enforcement),
      grants: z.array(explainedCapability),
    })
    .optional(),
});

export const approvalAnswer: z.ZodType = named('Approval', {
  skill: z.string(),
  digest: z.string(),
  by: z.string(),
  at: z.string(),
});

export const uploadAnswer: z.ZodType = named('Upload', {
  name: z.string(),
  version: z.string(),
  digest: z.string(),
  bytes: count,
  by: z.string(),
  at: z.string(),
  state: z
    .enum(['allowed', 'quarantined'])
    .describe('`quarantined`: every call is refused until an operator approves exactly these files.'),
  asks: z.array(z.object({ risk: z.enum(['high', 'medium', 'low']), text: z.string() })),
});

export const removal: z.ZodType = named('Removal', { removed: z.string() });

export const revocation: z.ZodType = named('Revocation', { removed: count });
export const health: z.ZodType = named('Health', { status: z.enum(['ok', 'closing']), version: z.string() });

export const readiness: z.ZodType = named('Readiness', {
  status: z.enum(['ready', 'not_ready']),
  hindrances: z.array(
    z.object({ part: z.enum(['service', 'access', 'receipts', 'cells']), reason: z.string() }),
  ),
  policy: z.object({
    digest: z.string(),
    state: z.enum(['current', 'waiting', 'broken']),
    waiting: z.array(z.string()),
  }),
});

export const identityAnswer: z.ZodType = named('Identity', {
  tenant: z.string(),
  token: z.string(),
  scopes: z.array(z.string()),
});

export const stats: z.ZodType = named('Stats', {
  from: z.string(),
  to: z.string(),
  truncated: z.boolean().describe('True if there were more calls than were counted.'),
  buckets: z.array(
    z.object({
      at: z.string(),
      calls: count,
      failed: count,
      cancelled: count,
      denied: count,
      p50_ms: amount.nullable(),
      p95_ms: amount.nullable(),
    }),
  ),
});

export const pairList: z.ZodType = named('Machine', {
  pairs: z.array(
    z.object({
      mode: z.string(),
      wall: z.string(),
      engine: z.string(),
      available: z.boolean(),
      summary: z.string(),
      fix: z.string().optional(),
      enforces: z.array(enforcement),
    }),
  ),
});
