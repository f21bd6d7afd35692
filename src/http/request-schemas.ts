/**
 * Schemas of requests. They validate requests and generate the OpenAPI document.
 *
 * @module
 */
import { z } from 'zod';
import type { ErrorCode } from '../inside.ts';
import { ERROR_CODES } from '../vocabulary/error-codes.ts';
import { ISOLATED_MODES, MODE_NAMES, type IsolatedMode, type Mode } from '../vocabulary/modes.ts';
import { PROGRAM_LANGUAGE_NAMES, type ProgramLanguage } from '../vocabulary/program-languages.ts';
import { API_SCHEMAS } from './schema-registry.ts';

export interface ExecuteBody {
  params?: unknown;
  timeout?: string | undefined;
  memory?: string | undefined;
  execution?: IsolatedMode | undefined;
}

export interface ProgramBody {
  language: ProgramLanguage;
  source: string;
  skills: string[];
  input?: unknown;
  execution?: 'wasm' | 'subprocess' | undefined;
  limits?:
    | { timeout?: string | undefined; memory?: string | undefined; calls?: number | undefined }
    | undefined;
}

export interface ApprovalBody {
  digest: string;
  pins: string[];
}

/** Selects receipts. */
export interface FilterQuery {
  skill?: string | undefined;
  code?: 'ok' | ErrorCode | undefined;
  denied?: 'true' | 'false' | undefined;
  caller?: string | undefined;
  tenant?: string | undefined;
  mode?: Mode | undefined;
  since?: string | undefined;
  until?: string | undefined;
  before?: string | undefined;
}

export interface ReceiptQuery extends FilterQuery {
  limit: number;
}

export interface ExportQuery extends FilterQuery {
  format: ExportFormat;
}

const EXPORT_FORMATS = ['jsonl', 'csv'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface StatsQuery {
  minutes: number;
  buckets: number;
}

export const executeBody: z.ZodType<ExecuteBody> = z
  .strictObject({
    params: z
      .unknown()
      .optional()
      .describe(
        'Parameters of the skill, according to its JSON Schema; {} if absent. For an Agent Skills folder with scripts: {"command": ["python", "scripts/x.py"], "stdin": "text"}.',
      ),
    timeout: z.string().max(40).optional().describe('Lowers the time limit, such as "5s".'),
    memory: z.string().max(40).optional().describe('Lowers the memory limit, such as "64MiB".'),
    execution: z.enum(ISOLATED_MODES).optional().describe('One of the modes the manifest allows.'),
  })
  .register(API_SCHEMAS, { id: 'ExecuteRequest' });

export interface TenantQuery {
  tenant?: string | undefined;
}

export const tenantQuery: z.ZodType<TenantQuery> = z.strictObject({
  tenant: z
    .string()
    .max(63)
    .optional()
    .describe('The tenant whose view it is; others than your own need admin.'),
});

export const programBody: z.ZodType<ProgramBody> = z
  .strictObject({
    language: z.enum(PROGRAM_LANGUAGE_NAMES).default('typescript'),
    source: z
      .string()
      .max(256 * 1024)
      .describe('Body of an asynchronous function; what it returns is the result.'),
    skills: z
      .array(z.string().max(200))
      .max(100)
      .default([])
      .describe('Names or patterns of the skills that it may call, such as "text/*".'),
    input: z.unknown().optional().describe('Available to the source as `input`.'),
    execution: z
      .enum(['wasm', 'subprocess'])
      .optional()
      .describe('`subprocess`: natively in a jail, if the operator allows it.'),
    limits: z
      .strictObject({
        timeout: z.string().max(40).optional().describe('Of the whole program, such as "30s".'),
        memory: z.string().max(40).optional().describe('Of the program itself, such as "64MiB".'),
        calls: z.int().min(0).max(100_000).optional().describe('Number of calls that it may make.'),
      })
      .optional(),
  })
  .register(API_SCHEMAS, { id: 'ProgramRequest' });

export const approvalBody: z.ZodType<ApprovalBody> = z
  .strictObject({
    digest: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/)
      .describe('Digest of the reviewed skill. Approval fails if it has changed.'),
    pins: z
      .array(z.string().max(1000))
      .max(20_000)
      .default([])
      .describe('Pins of the reviewed skill. Approval fails if they have changed.'),
  })
  .register(API_SCHEMAS, { id: 'ApprovalRequest' });

const time = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

const filterFields = {
  skill: z.string().max(200).optional().describe('Only calls of this skill.'),
  code: z
    .enum(['ok', ...ERROR_CODES])
    .optional()
    .describe('Only calls with this code.'),
  denied: z.enum(['true', 'false']).optional().describe('"true": only calls with denials.'),
  caller: z.string().max(500).optional().describe('Only calls of exactly this caller.'),
  tenant: z
    .string()
    .max(200)
    .optional()
    .describe('Only calls of this tenant; others than its own need admin.'),
  mode: z.enum(MODE_NAMES).optional().describe('Only calls that ran in this mode.'),
  since: time.optional().describe('Only calls that began at this time or later; a date means midnight UTC.'),
  until: time.optional().describe('Only calls that began before this time.'),
  before: z.string().max(40).optional().describe('Only receipts before this call id.'),
};

export const receiptQuery: z.ZodType<ReceiptQuery> = z.strictObject({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(500)
    .default(50)
    .describe('Maximum number of receipts, newest first.'),
  ...filterFields,
});

export const exportQuery: z.ZodType<ExportQuery> = z.strictObject({
  format: z.enum(EXPORT_FORMATS).default('jsonl').describe('JSON lines, or CSV with a header line.'),
  ...filterFields,
});

export const callQuery: z.ZodType<ReceiptQuery> = z.strictObject({
  limit: z.coerce
    .number()
    .int()
    .min(0)
    .max(500)
    .default(50)
    .describe('Maximum number of past calls, newest first.'),
  ...filterFields,
});

export const statsQuery: z.ZodType<StatsQuery> = z.strictObject({
  minutes: z.coerce
    .number()
    .int()
    .min(1)
    .max(10_080)
    .default(60)
    .describe('Time range in minutes, up to now.'),
  buckets: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(60)
    .describe('Number of buckets that the time range is divided into.'),
});
