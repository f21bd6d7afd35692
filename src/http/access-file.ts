/**
 * The access file: tokens with their tenants and scopes, and limits. Tokens are random, so storing only their SHA-256 is
 * enough.
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import {
  FileLock,
  type Limits,
  SkillError,
  type TenantLimits,
  limitSchema,
  publishSync,
  tenantLimitSchema,
} from '../inside.ts';

/**
 * `call`: list and call skills. `read`: receipts, calls and stats of the tenant. `upload`: its own skills, into quarantine.
 * `admin`: everything, for all tenants.
 */
export const SCOPES = ['call', 'read', 'metrics', 'upload', 'admin'] as const;
/** A permission of a token. */
export type Scope = (typeof SCOPES)[number];

/** Names become part of callers (`http:tenant:token`) and of metric labels. */
const nameSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, 'only letters, digits, ".", "_" and "-"');

const tokenSchema = z.strictObject({
  name: nameSchema,
  tenant: nameSchema,
  scopes: z.array(z.enum(SCOPES)).min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  created_at: z.iso.datetime().optional(),
  expires_at: z.iso.datetime().optional(),
});

/** A token in the access file; its secret is stored as a digest. */
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
  /** For all tenants and skills together. */
  limits: limitSchema.default({}),
  /** By tenant; `*` applies to all others. */
  tenants: z.record(z.string(), tenantLimitSchema).default({}),
  /** By skill; `*` applies to all others. */
  skills: z.record(z.string(), limitSchema).default({}),
});

export interface AccessRules {
  version: 1;
  tokens: TokenEntry[];
  limits: Limits;
  tenants: Record<string, TenantLimits>;
  skills: Record<string, Limits>;
}

const NO_RULES: AccessRules = { version: 1, tokens: [], limits: {}, tenants: {}, skills: {} };

const LOCK_MS = 10_000;
const LOCK_PAUSE_MS = 20;

/** A token to create. */
export interface NewToken {
  name: string;
  tenant: string;
  scopes: readonly Scope[];
  expiresAt?: Date;
}

/** Reads the rules; there are none if the file does not exist. */
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

/** Adds a token to the file and returns its secret, which cannot be recovered later. */
export function addToken(file: string, token: NewToken): string {
  const { entry, secret } = makeToken(token);
  return changeAccessFile(file, (tokens) => {
    if (tokens.some(({ name }) => name === token.name)) throw nameTaken(token.name);
    return { tokens: [...tokens, entry], result: secret };
  });
}

/** Replaces the tokens of the file; everything else stays as the operator wrote it. Two processes never change it at once. */
export function changeAccessFile<T>(
  file: string,
  change: (tokens: readonly TokenEntry[]) => { tokens: TokenEntry[]; result: T },
): T {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lock = lockFile(`${file}.lock`);
  try {
    const { tokens, result } = change(readAccessFile(file).tokens);
    const current = existsSync(file)
      ? (parseJson(file, readFileSync(file, 'utf8')) as object)
      : { version: 1 };
    writeWhole(file, { ...current, tokens });
    return result;
  } finally {
    lock[Symbol.dispose]();
  }
}

function lockFile(path: string): Disposable {
  for (let waitedMs = 0; waitedMs < LOCK_MS; waitedMs += LOCK_PAUSE_MS) {
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
    const lock = FileLock.claim(path);
    if (lock) return lock;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_PAUSE_MS);
  }
  throw new SkillError('usage', `Another process has held the lock "${path}" for ${LOCK_MS / 1000} s`, {
    fix: 'Try again after the other command has ended.',
  });
}

function nameTaken(name: string): SkillError {
  return new SkillError('usage', `A token named "${name}" already exists`, {
    fix: `Choose another name, or revoke it first with \`skillcell tokens revoke ${name}\`.`,
  });
}

/** Creates a token: its entry for the access file, and the secret to hand out once. */
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
  throw new SkillError('usage', `Cannot create the token: ${z.prettifyError(entry.error)}`, {
    fix: `Use letters, digits, ".", "_" and "-" for name and tenant, and scopes from: ${SCOPES.join(', ')}.`,
  });
}

export function digestToken(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

function writeWhole(file: string, rules: unknown): void {
  const text = `${JSON.stringify(rules, null, 2)}\n`;
  publishSync(file, (draft) => writeFileSync(draft, text, { mode: 0o600, flag: 'wx' }));
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
    fix: 'Correct the file.',
    detail: { file },
  });
}
