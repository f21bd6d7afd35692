/**
 * What requests may hold. The same schemas check them and make the OpenAPI document.
 *
 * @module
 */
import { z } from 'zod';
import type { ErrorCode } from '../index.ts';
import { API_SCHEMAS, CODES } from './schema-registry.ts';

export interface ExecuteBody {
  params?: unknown;
  timeout?: string | undefined;
  memory?: string | undefined;
  execution?: 'subprocess' | 'wasm' | 'container' | undefined;
}

export interface ApprovalBody {
  digest: string;
  pins: string[];
}

export interface ReceiptQuery {
  limit: number;
  skill?: string | undefined;
  code?: 'ok' | ErrorCode | undefined;
  denied?: 'true' | 'false' | undefined;
  before?: number | undefined;
}

export interface CallQuery {
  limit: number;
}

export interface StatsQuery {
  minutes: number;
  buckets: number;
}

export const executeBody: z.ZodType<ExecuteBody> = z
  .strictObject({
    params: z
      .unknown()
      .optional()
      .describe('Parameters of the skill, as its JSON Schema says; {} when absent.'),
    timeout: z.string().max(40).optional().describe('Lowers the time limit, e.g. "5s".'),
    memory: z.string().max(40).optional().describe('Lowers the memory limit, e.g. "64MiB".'),
    execution: z
      .enum(['subprocess', 'wasm', 'container'])
      .optional()
      .describe('One of the modes that the manifest allows.'),
  })
  .register(API_SCHEMAS, { id: 'ExecuteRequest' });

export const approvalBody: z.ZodType<ApprovalBody> = z
  .strictObject({
    digest: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/)
      .describe('Of the skill as it was looked at: another one is not approved.'),
    pins: z
      .array(z.string().max(1000))
      .max(20_000)
      .default([])
      .describe('As the skill had them when it was looked at: with others it is not approved.'),
  })
  .register(API_SCHEMAS, { id: 'ApprovalRequest' });

export const receiptQuery: z.ZodType<ReceiptQuery> = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(50).describe('How many, newest first.'),
  skill: z.string().max(200).optional().describe('Only of this skill.'),
  code: z
    .enum(['ok', ...CODES])
    .optional()
    .describe('Only calls that ended like this.'),
  denied: z.enum(['true', 'false']).optional().describe('"true": only calls with denials.'),
  before: z.coerce.number().int().min(1).optional().describe('Only receipts before this one, by its number.'),
});

export const callQuery: z.ZodType<CallQuery> = z.strictObject({
  limit: z.coerce.number().int().min(0).max(500).default(50).describe('How many past calls, newest first.'),
});

export const statsQuery: z.ZodType<StatsQuery> = z.strictObject({
  minutes: z.coerce.number().int().min(1).max(10_080).default(60).describe('How far to look back.'),
  buckets: z.coerce
    .number()
    .int()
    .min(1)
    .max(200)
    .default(60)
    .describe('Into how many parts the time is cut.'),
});
