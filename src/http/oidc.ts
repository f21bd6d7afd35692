/**
 * Tokens of the operator's issuers (OpenID Connect): a signed JWT whose claim names the tenant. `jose` checks signatures;
 * keys come only from the address in the file of tenants, whatever a token says about itself.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { createRemoteJWKSet, customFetch, decodeJwt, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { type Issuer, SkillError } from '../inside.ts';
import { fetchKeys } from './fetch-keys.ts';

/** A longer token is not looked at. */
export const MAX_JWT_CHARACTERS = 8192;
/** How long keys count: a key that the issuer removed is refused after this time at the latest. */
const KEYS_MS = 10 * 60_000;
/** A token with an unknown key fetches the keys again, but not more often than this. */
const REFETCH_MS = 30_000;
const TIMEOUT_MS = 5000;
/** Clocks of two machines differ. */
const TOLERANCE_S = 30;

export interface OidcIdentity {
  tenant: string;
  scopes: Issuer['scopes'];
  /** Names the subject without revealing it. Tokens of the access file cannot have this name. */
  token: string;
  /** In milliseconds. */
  expiresAt: number;
  issuer: string;
  /** Value of the claim. */
  claimed: string;
}

export class Oidc {
  readonly #issuers: () => readonly Issuer[];
  /** By address. */
  readonly #keys = new Map<string, JWTVerifyGetKey>();

  constructor(issuers: () => readonly Issuer[]) {
    this.#issuers = issuers;
  }

  /** Undefined if the token is not valid, for whatever reason. Throws if the keys of its issuer cannot be fetched. */
  async identify(token: string): Promise<OidcIdentity | undefined> {
    if (token.length > MAX_JWT_CHARACTERS || token.split('.').length !== 3) return undefined;
    const issuer = this.#issuerOf(token);
    if (!issuer) return undefined;
    try {
      const { payload } = await jwtVerify(token, this.#keysOf(issuer), {
        issuer: issuer.issuer,
        audience: issuer.audience,
        algorithms: [...issuer.algorithms],
        requiredClaims: ['exp', 'sub', issuer.claim],
        clockTolerance: TOLERANCE_S,
      });
      return identityOf(issuer, payload);
    } catch (error) {
      if (isInvalidToken(error)) return undefined;
      throw keysUnavailable(error);
    }
  }

  /** False if the operator changed what the token's claim means since it was identified. */
  isStillMapped({ issuer, claimed, tenant }: OidcIdentity): boolean {
    return this.#issuers().some((one) => one.issuer === issuer && tenantFor(one, claimed) === tenant);
  }

  /** What a token says before its signature is checked only selects the issuer that checks it. */
  #issuerOf(token: string): Issuer | undefined {
    try {
      const { iss, aud } = decodeJwt(token);
      const audiences = new Set([aud ?? []].flat());
      return this.#issuers().find(({ issuer, audience }) => issuer === iss && audiences.has(audience));
    } catch {
      return undefined;
    }
  }

  #keysOf({ jwks }: Issuer): JWTVerifyGetKey {
    const known = this.#keys.get(jwks);
    if (known) return known;
    const inUse = new Set(this.#issuers().map((one) => one.jwks));
    for (const address of this.#keys.keys()) if (!inUse.has(address)) this.#keys.delete(address);
    const keys = createRemoteJWKSet(new URL(jwks), {
      timeoutDuration: TIMEOUT_MS,
      cooldownDuration: REFETCH_MS,
      cacheMaxAge: KEYS_MS,
      [customFetch]: fetchKeys(),
    });
    this.#keys.set(jwks, keys);
    return keys;
  }
}

function identityOf(issuer: Issuer, payload: Record<string, unknown>): OidcIdentity | undefined {
  const claimed = payload[issuer.claim];
  if (typeof claimed !== 'string') return undefined;
  const tenant = tenantFor(issuer, claimed);
  if (tenant === undefined) return undefined;
  const subject = createHash('sha256')
    .update(JSON.stringify([issuer.issuer, payload['sub']]))
    .digest('hex');
  return {
    tenant,
    scopes: issuer.scopes,
    token: `oidc:${subject.slice(0, 16)}`,
    expiresAt: (payload['exp'] as number) * 1000,
    issuer: issuer.issuer,
    claimed,
  };
}

/** Own keys only: a claim may be `constructor`. */
function tenantFor({ tenants }: Issuer, claimed: string): string | undefined {
  return Object.hasOwn(tenants, claimed) ? tenants[claimed] : undefined;
}

/** Anything about the token itself. A failure to get the keys is not the caller's fault. */
function isInvalidToken(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  // jose reports an answer that is not JSON or has another status with the base class.
  if (error instanceof errors.JOSEError) return error.code !== 'ERR_JOSE_GENERIC';
  return error instanceof TypeError && error.message !== 'fetch failed';
}

function keysUnavailable(cause: unknown): SkillError {
  return new SkillError('skill_unavailable', 'The keys that check this token cannot be fetched', {
    fix: 'Try again later, or ask the operator whether the issuer can be reached.',
    detail: { access: 'broken', retry_after_ms: 5000 },
    cause,
  });
}
