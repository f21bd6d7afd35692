/**
 * Identifies the caller of a request. The access file is read again when it changes, so that a removed token stops working
 * immediately.
 *
 * @module
 */
import { timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import { type LiveTenants, SkillError, toSkillError } from '../inside.ts';
import { digestToken, readAccessFile, type AccessRules, type Scope, type TokenEntry } from './access-file.ts';
import { Oidc, type OidcIdentity } from './oidc.ts';
import { TokenUse } from './token-use.ts';
import { tokenId } from './tokens.ts';

export interface Identity {
  tenant: string;
  /** Name of the token. */
  token: string;
  scopes: ReadonlySet<Scope>;
  /** For receipts and guards. */
  caller: string;
}

export interface AccessOptions {
  file: string;
  /** Tokens that are valid only for this run. */
  extra?: readonly TokenEntry[];
  now?: () => number;
  /** Receives a sentence for the operator if the file breaks. */
  onNote?: ((text: string) => void) | undefined;
  /** If set, only its tenants are served, and the tokens of its issuers count. */
  tenants?: LiveTenants | undefined;
}

export class Access {
  readonly #options: AccessOptions;
  #rules: AccessRules;
  #version: string | undefined;
  #isBroken = false;
  #hasLooked = false;
  readonly #entries = new WeakMap<Identity, TokenEntry>();
  readonly #digests = new WeakMap<TokenEntry, Buffer>();
  readonly #subjects = new WeakMap<Identity, OidcIdentity>();
  readonly #use: TokenUse;
  readonly #oidc: Oidc | undefined;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#use = new TokenUse(options.file);
    const { tenants } = options;
    this.#oidc = tenants && new Oidc(() => tenants.issuers);
    this.#version = versionOf(options.file);
    this.#rules = readAccessFile(options.file);
  }

  /** The file is looked at once per turn of the event loop, because a request needs its limits several times. */
  get rules(): AccessRules {
    return this.#hasLooked ? this.#readable() : this.#latest();
  }

  /** The file was replaced by one that cannot be read, so that no token counts. */
  get isBroken(): boolean {
    this.#reread();
    return this.#isBroken;
  }

  /** The owner of the token in the `Authorization` header; undefined if it is missing or invalid. */
  identify(header: string | undefined): Identity | undefined {
    const secret = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header ?? '')?.[1];
    if (secret === undefined) return undefined;
    const digest = digestToken(secret);
    const tokens = [...(this.#options.extra ?? []), ...this.#latest().tokens];
    // Compares every entry, so that timing reveals nothing about them.
    const matching = tokens.filter((entry) => timingSafeEqual(this.#digestOf(entry), digest));
    const found = matching.at(0);
    if (!found || !this.#isValid(found)) return undefined;
    if (!this.#options.extra?.includes(found)) this.#use.record(tokenId(found));
    const scopes = this.#scopesOf(found);
    if (scopes.length === 0) return undefined;
    const identity = identityOf({ ...found, scopes });
    this.#entries.set(identity, found);
    return identity;
  }

  /** Like `identify`, and accepts tokens of the operator's issuers. */
  async identifyAny(header: string | undefined): Promise<Identity | undefined> {
    const known = this.identify(header);
    if (known || !this.#oidc) return known;
    const [, token] = JWT_HEADER.exec(header ?? '') ?? [];
    const subject = token === undefined ? undefined : await this.#oidc.identify(token);
    if (!subject || !this.#options.tenants?.find(subject.tenant)) return undefined;
    const identity = identityOf({ name: subject.token, tenant: subject.tenant, scopes: [...subject.scopes] });
    this.#subjects.set(identity, subject);
    return identity;
  }

  /** False if the token was revoked or has expired since it was identified, for example while its call waited. */
  isStillValid(identity: Identity): boolean {
    const subject = this.#subjects.get(identity);
    if (subject) return this.#isSubjectValid(subject);
    const entry = this.#entries.get(identity);
    if (!entry || !this.#isValid(entry) || this.#scopesOf(entry).length === 0) return false;
    const isKnown = ({ sha256 }: TokenEntry): boolean => sha256 === entry.sha256;
    return this.#latest().tokens.some(isKnown) || (this.#options.extra?.some(isKnown) ?? false);
  }

  /** Writes down when the tokens were last used. */
  close(): void {
    this.#use.write();
  }

  /** With a file of tenants, a token of a tenant that it does not name can do nothing. */
  #scopesOf({ tenant, scopes }: Pick<TokenEntry, 'tenant' | 'scopes'>): Scope[] {
    const { tenants } = this.#options;
    if (!tenants || scopes.includes('admin') || tenants.find(tenant)) return [...scopes];
    return tenants.isOperator(tenant) ? scopes.filter((scope) => scope === 'metrics') : [];
  }

  #isSubjectValid(subject: OidcIdentity): boolean {
    const { now = Date.now, tenants } = this.#options;
    const isServed = tenants?.find(subject.tenant) !== undefined;
    return isServed && subject.expiresAt > now() && (this.#oidc?.isStillMapped(subject) ?? false);
  }

  #isValid({ expires_at }: TokenEntry): boolean {
    const { now = Date.now } = this.#options;
    return expires_at === undefined || Date.parse(expires_at) > now();
  }

  #digestOf(entry: TokenEntry): Buffer {
    const known = this.#digests.get(entry);
    if (known) return known;
    const digest = Buffer.from(entry.sha256, 'hex');
    this.#digests.set(entry, digest);
    return digest;
  }

  #latest(): AccessRules {
    this.#reread();
    return this.#readable();
  }

  #readable(): AccessRules {
    if (this.#isBroken) throw broken();
    return this.#rules;
  }

  #reread(): void {
    if (!this.#hasLooked) setImmediate(() => (this.#hasLooked = false));
    this.#hasLooked = true;
    const version = versionOf(this.#options.file);
    if (version === this.#version) return;
    this.#version = version;
    this.#read();
  }

  #read(): void {
    try {
      this.#rules = readAccessFile(this.#options.file);
      this.#isBroken = false;
    } catch (error) {
      this.#isBroken = true;
      const { message, fix } = toSkillError(error);
      this.#options.onNote?.(`error: ${message}. All requests with a token are refused.\nfix: ${fix}`);
    }
  }
}

const JWT_HEADER = new RegExp(String.raw`^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$`, 'i');

export function mayDo({ scopes }: Identity, wanted: readonly Scope[]): boolean {
  return scopes.has('admin') || wanted.some((scope) => scopes.has(scope));
}

/** The common prefix of all callers of a tenant. */
export function callerPrefix(tenant: string): string {
  return `http:${tenant}:`;
}

/** Closed, because nobody can tell which tokens the operator meant to revoke. */
function broken(): SkillError {
  return new SkillError('skill_unavailable', 'The access file of this service is broken', {
    fix: 'Ask the operator to correct it.',
    detail: { access: 'broken' },
  });
}

function identityOf({ name, tenant, scopes }: Pick<TokenEntry, 'name' | 'tenant' | 'scopes'>): Identity {
  return { tenant, token: name, scopes: new Set(scopes), caller: callerPrefix(tenant) + name };
}

function versionOf(file: string): string {
  try {
    const { ctimeNs, size, ino } = statSync(file, { bigint: true });
    return `${ctimeNs} ${size} ${ino}`;
  } catch {
    return 'no file';
  }
}
