/**
 * The tenants of a service that keeps running while their file changes. What an edit takes away counts at the next request;
 * what it adds waits until the operator reloads. A broken file adds and removes nothing.
 *
 * @module
 */
import { toSkillError } from '../errors.ts';
import { FileWatch } from '../policy/file-watch.ts';
import type { OperatorPolicy } from '../policy/operator.ts';
import { strictestTenants, waitingTenants } from './strictest-tenants.ts';
import { readTenants, type Issuer, type Tenant, type TenantBook } from './tenants-file.ts';

/** Options of `LiveTenants`. */
export interface LiveTenantsOptions {
  file: string;
  /** The operator's policy, which no tenant's policy may exceed. */
  policy: () => OperatorPolicy;
  /** Files and folders of the operator, which no tenant may have. */
  own?: readonly string[] | undefined;
  /** Receives a sentence for the operator when something changed. */
  onNote?: ((text: string) => void) | undefined;
}

/** The tenants in force. */
export class LiveTenants {
  readonly #options: LiveTenantsOptions;
  /** What the operator put in force, by starting the service or by reloading. */
  #accepted: TenantBook;
  #inForce: TenantBook;
  readonly #watch: FileWatch;

  /** Throws if the file cannot be used: a service never starts with broken tenants. */
  constructor(options: LiveTenantsOptions) {
    this.#options = options;
    this.#accepted = this.#read();
    this.#inForce = this.#accepted;
    this.#watch = new FileWatch(() => this.#files());
  }

  /** Undefined if there is no such tenant, or not any more. */
  find(name: string): Tenant | undefined {
    return this.#current().tenants.get(name);
  }

  get names(): string[] {
    return [...this.#current().tenants.keys()];
  }

  isOperator(name: string): boolean {
    return this.#current().operators.includes(name);
  }

  get issuers(): readonly Issuer[] {
    return this.#current().issuers;
  }

  /** Notices an edit without waiting for a request. */
  follow(): void {
    this.#current();
  }

  /** The operator asks for the file as it is. Returns whether it is now in force. */
  reload(): boolean {
    this.#watch.hasChanged();
    const book = this.#tryToRead();
    if (!book) return false;
    [this.#accepted, this.#inForce] = [book, book];
    this.#options.onNote?.('The tenants were reloaded and are in force.');
    return true;
  }

  #current(): TenantBook {
    if (this.#watch.hasChanged()) this.#takeAway();
    return this.#inForce;
  }

  #takeAway(): void {
    const book = this.#tryToRead();
    if (!book) return;
    this.#inForce = strictestTenants(this.#accepted, book);
    // The file may now name other policies.
    this.#watch.hasChanged();
    const waiting = waitingTenants(this.#inForce, book);
    this.#options.onNote?.(
      waiting.length === 0
        ? 'The tenants changed and are in force.'
        : `The tenants changed. What the file takes away is in force; what it adds waits for SIGHUP or a restart: ${waiting.join(', ')}.`,
    );
  }

  #tryToRead(): TenantBook | undefined {
    try {
      return this.#read();
    } catch (error) {
      const { message, fix } = toSkillError(error);
      this.#options.onNote?.(`error: ${message}. What was in force stays in force.\nfix: ${fix}`);
      return undefined;
    }
  }

  #read(): TenantBook {
    const { file, policy, own = [] } = this.#options;
    return readTenants({ file, policy: policy(), own });
  }

  #files(): Set<string> {
    return new Set([this.#options.file, ...this.#accepted.files, ...this.#inForce.files]);
  }
}
