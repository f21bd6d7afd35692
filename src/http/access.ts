/**
 * Who is behind a request. The access file is read again when it changes, so that a token that was taken out of it is
 * refused from then on.
 *
 * @module
 */
import { timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import {
  digestToken,
  NO_RULES,
  readAccessFile,
  type AccessRules,
  type Scope,
  type TokenEntry,
} from './access-file.ts';

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
  /** Of this run alone. */
  extra?: readonly TokenEntry[];
  now?: () => number;
}

export class Access {
  readonly #options: AccessOptions;
  #rules: AccessRules = NO_RULES;
  #version: string | undefined;

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#refresh();
  }

  get rules(): AccessRules {
    this.#refresh();
    return this.#rules;
  }

  /** Who the `Authorization` header belongs to; undefined for nobody. */
  identify(header: string | undefined): Identity | undefined {
    const secret = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header ?? '')?.[1];
    if (secret === undefined) return undefined;
    const digest = digestToken(secret);
    const tokens = [...(this.#options.extra ?? []), ...this.rules.tokens];
    // Every entry is compared, whichever fits: time tells nothing about them.
    const fitting = tokens.filter((entry) => timingSafeEqual(Buffer.from(entry.sha256, 'hex'), digest));
    const found = fitting.at(0);
    return found && this.#isValid(found) ? identityOf(found) : undefined;
  }

  #isValid({ expires_at }: TokenEntry): boolean {
    const { now = Date.now } = this.#options;
    return expires_at === undefined || Date.parse(expires_at) > now();
  }

  #refresh(): void {
    const version = versionOf(this.#options.file);
    if (version === this.#version) return;
    this.#rules = readAccessFile(this.#options.file);
    this.#version = version;
  }
}

export function mayDo({ scopes }: Identity, wanted: readonly Scope[]): boolean {
  return scopes.has('admin') || wanted.some((scope) => scopes.has(scope));
}

/** What every caller of a tenant begins with. */
export function callerPrefix(tenant: string): string {
  return `http:${tenant}:`;
}

function identityOf({ name, tenant, scopes }: TokenEntry): Identity {
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
