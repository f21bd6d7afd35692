/**
 * The access file: who may use the service, with which scopes, for which tenant, and how much of it. Tokens are random,
 * so their SHA-256 is all that has to be kept of them.
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { parseDuration, SkillError } from '../index.ts';

/** `call`: list and call skills. `read`: receipts, calls and figures of the tenant. `admin`: everything, of all tenants. */
export const SCOPES = ['call', 'read', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Names stand in callers (`http:tenant:token`) and in labels of metrics. */
const nameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'letters, digits, ".", "_" and "-" only');

const limitSchema = z.strictObject({
  /** Calls at the same time. */
  concurrent: z.int().min(1).max(10_000).optional(),
  /** Calls that may wait for their turn. */
  queue: z.int().min(0).max(100_000).optional(),
  /** So many calls in so much time, e.g. `{ "calls": 100, "per": "10s" }`. */
  rate: z
    .strictObject({ calls: z.int().min(1).max(1_000_000), per: z.string().transform(readDuration) })
    .optional(),
});

export interface Limits {
  concurrent?: number | undefined;
  queue?: number | undefined;
  rate?: { calls: number; per: number } | undefined;
}

const tokenSchema = z.strictObject({
  name: nameSchema,
  tenant: nameSchema,
  scopes: z.array(z.enum(SCOPES)).min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  created_at: z.iso.datetime().optional(),
  expires_at: z.iso.datetime().optional(),
});

export interface TokenEntry {
  name: string;
  tenant: string;
  scopes: Scope[];
  sha256: string;
  created_at?: string | undefined;
  expires_at?: string | undefined;
}

const fileSchema = z.strictObject({
  version: z.literal(1),
  tokens: z.array(tokenSchema).max(10_000).default([]),
  /** Over all tenants and skills. */
  limits: limitSchema.default({}),
  /** By tenant; `*` is for those that are not named. */
  tenants: z.record(z.string(), limitSchema).default({}),
  /** By skill; `*` is for those that are not named. */
  skills: z.record(z.string(), limitSchema).default({}),
});

export interface AccessRules {
  version: 1;
  tokens: TokenEntry[];
  limits: Limits;
  tenants: Record<string, Limits>;
  skills: Record<string, Limits>;
}

export const NO_RULES: AccessRules = { version: 1, tokens: [], limits: {}, tenants: {}, skills: {} };

export interface NewToken {
  name: string;
  tenant: string;
  scopes: readonly Scope[];
  expiresAt?: Date;
}

/** The rules of the file; none when there is no file. */
export function readAccessFile(file: string): AccessRules {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return NO_RULES;
    throw unreadable(file, cause instanceof Error ? cause.message : String(cause));
  }
  const parsed = fileSchema.safeParse(parseJson(file, text));
  if (!parsed.success) throw unreadable(file, z.prettifyError(parsed.error).replaceAll('\n', ' '));
  return parsed.data;
}

/** Adds a token to the file and returns it: nobody can find it out again. */
export function addToken(file: string, token: NewToken): string {
  const { entry, secret } = makeToken(token);
  const { tokens } = readAccessFile(file);
  if (tokens.some(({ name }) => name === token.name))
    throw new SkillError('usage', `There is a token "${token.name}" already`, {
      fix: `Choose another name, or take the entry out of ${JSON.stringify(file)} first.`,
    });
  // The rest stays as the operator wrote it.
  const written = existsSync(file) ? (parseJson(file, readFileSync(file, 'utf8')) as object) : { version: 1 };
  writeWhole(file, { ...written, tokens: [...tokens, entry] });
  return secret;
}

export function makeToken(token: NewToken): { entry: TokenEntry; secret: string } {
  const secret = `sct_${randomBytes(32).toString('base64url')}`;
  const entry = tokenSchema.safeParse({
    name: token.name,
    tenant: token.tenant,
    scopes: [...token.scopes],
    sha256: digestToken(secret).toString('hex'),
    created_at: new Date().toISOString(),
    ...(token.expiresAt ? { expires_at: token.expiresAt.toISOString() } : {}),
  });
  if (entry.success) return { entry: entry.data, secret };
  throw new SkillError('usage', `No token can be made of that: ${z.prettifyError(entry.error)}`, {
    fix: `Give a plain name and tenant, and scopes out of ${SCOPES.join(', ')}.`,
  });
}

export function digestToken(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function readDuration(text: string, context: z.RefinementCtx): number {
  try {
    return parseDuration(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'a duration such as "10s"' });
    return z.NEVER;
  }
}

function writeWhole(file: string, rules: unknown): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(draft, `${JSON.stringify(rules, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable(file, cause instanceof Error ? cause.message : String(cause));
  }
}

function unreadable(file: string, reason: string): SkillError {
  return new SkillError('usage', `Cannot read the access file "${file}": ${reason}`, {
    fix: 'Correct the file, or make tokens with `skillcell serve --new-token NAME`.',
    detail: { file },
  });
}
