/**
 * Answers of the service, as far as the console uses them; the service takes from here those that are for the console
 * only. GET /openapi.json describes all of them.
 *
 * @module
 */
import type { Kind } from '../vocabulary/kinds.ts';
import type { Risk } from '../vocabulary/risks.ts';

export type JsonSchema = Record<string, unknown>;

export interface Identity {
  tenant: string;
  token: string;
  scopes: string[];
}

export interface ErrorBody {
  code: string;
  message: string;
  fix: string;
}

export interface Badge {
  risk: Risk;
  label: string;
}

export interface SkillSummary {
  name: string;
  version: string;
  about: string;
  origin: string;
  trust: string;
  profile: string;
  lock: string;
  digest: string;
  /** The mode a call would run in; null if this machine supports none. */
  mode: string | null;
  badges: Badge[];
  /** Uploaded by the tenant that sees it. */
  uploaded?: boolean;
  problem?: ErrorBody;
}

export interface SkillPage extends SkillSummary {
  description: string;
  parameters: JsonSchema;
  manifest: Record<string, unknown>;
  declares: string[];
  asks: { risk: Risk; text: string }[];
  pins: string[];
  approval: { decision: string; state: string; by?: string; at?: string; diff?: string[] };
  kind: Kind;
  files: string[];
  file_digests: Record<string, string>;
  warnings: string[];
  instructions?: string;
  card?: Record<string, unknown>;
  plan?: {
    mode: string;
    wall: string;
    engine: string;
    reason: string;
    enforces: { field: string; by: string; how: string }[];
    grants: { capability: string; declared: string; policy: string; granted: string }[];
  };
}

export interface CapabilityEvent {
  capability: string;
  asked: string;
  declared: string;
}

export interface Usage {
  wall_ms: number;
  cpu_ms: number;
  memory_peak_bytes: number;
}

export interface Outcome {
  ok: boolean;
  result?: unknown;
  error?: ErrorBody;
  call_id: string;
  execution?: { mode: string; wall: string; engine: string };
  usage: Usage;
  capabilities: { used: CapabilityEvent[]; denied: CapabilityEvent[] };
  logs: string;
  warnings: string[];
}

export interface Receipt {
  call_id: string;
  /** The call that made this one. */
  parent?: string;
  /** The call that began the tree. */
  root?: string;
  depth?: number;
  started_at: string;
  caller: string;
  skill: { name: string; version: string; digest: string };
  origin: string;
  lock: string;
  execution?: Execution;
  grant_digest: string;
  decision?: { decision: string; reasons: string[] };
  code: string;
  limit?: string;
  message?: string;
  usage: Usage & { fuel: number; output_bytes: number; host_calls: number };
  used: CapabilityEvent[];
  denied: CapabilityEvent[];
  denied_count: number;
  cut?: { used: number; denied: number };
  params_digest: string;
  result_digest?: string;
  params?: unknown;
  result?: unknown;
  shortened?: true;
}

export interface Execution {
  mode: string;
  wall: string;
  engine: string;
  fresh: boolean;
  start: string;
  image?: string;
  packages?: string;
  /** sha256 of the source of a program. */
  generated?: string;
}

export interface StoredReceipt {
  /** Only for admins. */
  seq?: number;
  /** Only for admins. */
  hash?: string;
  receipt: Receipt;
}

export interface LiveCall {
  call_id: string;
  skill: string;
  caller: string;
  started_at: string;
  state: 'waiting' | 'running';
}

export interface Bucket {
  at: string;
  calls: number;
  /** Calls that neither succeeded nor were cancelled. */
  failed: number;
  cancelled: number;
  denied: number;
  p50_ms: number | null;
  p95_ms: number | null;
}

export interface Stats {
  from: string;
  to: string;
  /** True if there were more calls than were counted. */
  truncated: boolean;
  buckets: Bucket[];
}

export interface Pair {
  mode: string;
  wall: string;
  engine: string;
  available: boolean;
  summary: string;
  fix?: string;
  enforces: { field: string; by: string; how: string }[];
}
