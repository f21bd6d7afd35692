/**
 * Lists, revokes and rotates the tokens of an access file. A running service notices each change at its next request.
 *
 * @module
 */
import { SkillError } from '../inside.ts';
import { changeAccessFile, makeToken, readAccessFile, type TokenEntry } from './access-file.ts';
import { readTokenUse } from './token-use.ts';

/** A token for people: everything but its secret and its digest. */
export interface ListedToken {
  id: string;
  name: string;
  tenant: string;
  scopes: readonly string[];
  created_at: string | null;
  expires_at: string | null;
  /** Precise to about a minute. */
  last_used_at: string | null;
  state: 'valid' | 'expired';
}

/** Identifies one secret; a rotated token has another id under the same name. */
export function tokenId({ sha256 }: Pick<TokenEntry, 'sha256'>): string {
  return sha256.slice(0, 12);
}

export function listTokens(file: string, now: number = Date.now()): ListedToken[] {
  const used = readTokenUse(file);
  return readAccessFile(file).tokens.map((entry) => ({
    id: tokenId(entry),
    name: entry.name,
    tenant: entry.tenant,
    scopes: entry.scopes,
    created_at: entry.created_at ?? null,
    expires_at: entry.expires_at ?? null,
    last_used_at: used[tokenId(entry)] ?? null,
    state: isExpired(entry, now) ? 'expired' : 'valid',
  }));
}

/** Removes the tokens with this name or id; returns how many. */
export function revokeToken(file: string, nameOrId: string): number {
  return changeAccessFile(file, (tokens) => {
    const found = find(tokens, nameOrId);
    return { tokens: tokens.filter((entry) => !found.includes(entry)), result: found.length };
  });
}

/** Gives the token a new secret and returns it. The old secret works for `graceMs` longer. */
export function rotateToken(
  file: string,
  nameOrId: string,
  graceMs: number,
): { name: string; secret: string } {
  return changeAccessFile(file, (tokens) => {
    const old = find(tokens, nameOrId);
    const newest = old.at(-1);
    if (!newest || isExpired(newest, Date.now())) throw expired(nameOrId);
    const { name, tenant, scopes, expires_at } = newest;
    const expiresAt = expires_at === undefined ? {} : { expiresAt: new Date(expires_at) };
    const { entry, secret } = makeToken({ name, tenant, scopes, ...expiresAt });
    const ending = graceMs > 0 ? [endingBy(newest, Date.now() + graceMs)] : [];
    const others = tokens.filter((one) => one.name !== name);
    return { tokens: [...others, ...ending, entry], result: { name, secret } };
  });
}

function endingBy(entry: TokenEntry, ms: number): TokenEntry {
  const own = entry.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(entry.expires_at);
  return { ...entry, expires_at: new Date(Math.min(own, ms)).toISOString() };
}

function isExpired({ expires_at }: TokenEntry, now: number): boolean {
  return expires_at !== undefined && Date.parse(expires_at) <= now;
}

function find(tokens: readonly TokenEntry[], nameOrId: string): TokenEntry[] {
  const named = tokens.filter(({ name }) => name === nameOrId);
  const found = named.length > 0 ? named : tokens.filter((entry) => tokenId(entry) === nameOrId);
  if (found.length > 0) return found;
  throw new SkillError('usage', `There is no token "${nameOrId}"`, {
    fix: 'Run `skillcell tokens list` to see the names and ids of all tokens.',
  });
}

function expired(nameOrId: string): SkillError {
  return new SkillError('usage', `The token "${nameOrId}" has expired`, {
    fix: `Revoke it with \`skillcell tokens revoke ${nameOrId}\`, and create a new one with \`skillcell tokens create ${nameOrId}\`.`,
  });
}
