/**
 * `skillcell tokens list | create | revoke | rotate`
 *
 * @module
 */
import { join } from 'node:path';
import { addToken, SCOPES, type Scope } from '../../http/access-file.ts';
import { listTokens, revokeToken, rotateToken } from '../../http/tokens.ts';
import { SkillError, defaultHome, parseDuration } from '../../inside.ts';
import { printLine, printNote, printResult, table } from '../output.ts';

const MAX_DAYS = 36_500;

export interface TokenFlags {
  access?: string;
  json?: boolean;
}

export interface NewTokenFlags extends TokenFlags {
  scopes: string;
  tenant: string;
  expires?: string;
}

export function tokensList(flags: TokenFlags): number {
  const tokens = listTokens(accessFileOf(flags));
  if (flags.json) printResult(tokens);
  else if (tokens.length === 0) printNote('No tokens yet. Create one with `skillcell tokens create NAME`.');
  else {
    const heads = ['ID', 'NAME', 'TENANT', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED', 'STATE'];
    const rows = tokens.map(({ id, name, tenant, scopes, created_at, expires_at, last_used_at, state }) =>
      [id, name, tenant, scopes.join(',')].concat(
        [created_at, expires_at, last_used_at].map(shortTime),
        state,
      ),
    );
    printLine(table([heads, ...rows]));
  }
  return 0;
}

export function tokensCreate(name: string, flags: NewTokenFlags): number {
  const { expires, tenant, scopes } = flags;
  const secret = addToken(accessFileOf(flags), {
    ...{ name, tenant, scopes: scopesOf(scopes) },
    ...(expires === undefined ? {} : { expiresAt: inDays(expires) }),
  });
  if (flags.json) printResult({ name, tenant, scopes: scopesOf(scopes), token: secret });
  else printLine(secret);
  printNote(`Token "${name}" of tenant "${tenant}" (${scopes}). It will not be shown again.`);
  return 0;
}

export function tokensRevoke(nameOrId: string, flags: TokenFlags): number {
  const revoked = revokeToken(accessFileOf(flags), nameOrId);
  if (flags.json) printResult({ revoked });
  else
    printLine(
      `Revoked ${revoked} ${revoked === 1 ? 'token' : 'tokens'}. Running services refuse it from now on.`,
    );
  return 0;
}

export function tokensRotate(nameOrId: string, flags: TokenFlags & { grace?: string }): number {
  const graceMs = flags.grace === undefined ? 0 : parseDuration(flags.grace);
  const { name, secret } = rotateToken(accessFileOf(flags), nameOrId, graceMs);
  if (flags.json) printResult({ name, token: secret });
  else printLine(secret);
  const old = graceMs > 0 ? `works for another ${flags.grace}` : 'is refused from now on';
  printNote(`New secret of token "${name}". It will not be shown again. The old secret ${old}.`);
  return 0;
}

export function accessFileOf({ access }: Pick<TokenFlags, 'access'>): string {
  return access ?? join(defaultHome(), 'access.json');
}

function scopesOf(text: string): Scope[] {
  return text.split(',').map((word) => {
    const scope = SCOPES.find((one) => one === word.trim());
    if (scope) return scope;
    throw new SkillError('usage', `--scopes "${text}": unknown scope "${word.trim()}"`, {
      fix: `Pass a comma-separated list of: ${SCOPES.join(', ')}.`,
    });
  });
}

function inDays(text: string): Date {
  const days = Number(text);
  if (days > 0 && days <= MAX_DAYS) return new Date(Date.now() + days * 86_400_000);
  throw new SkillError('usage', `--expires "${text}" is not a number of days above 0 and up to ${MAX_DAYS}`, {
    fix: 'Pass a number, such as --expires 30.',
  });
}

function shortTime(time: string | null): string {
  return time === null ? '-' : time.slice(0, 16).replace('T', ' ');
}
