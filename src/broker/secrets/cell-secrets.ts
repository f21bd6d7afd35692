/**
 * Replaces the placeholders of one cell by secrets where its requests leave. A placeholder has a value only here, and only in
 * a request to a server that the manifest names for it. Sending one elsewhere reveals nothing and is recorded as an attempt.
 *
 * @module
 */
import { BrokerRefusal } from '../../cell/contract.ts';
import type { NetworkRule } from '../../manifest/manifest.ts';
import type { GrantedSecret } from '../../policy/grant.ts';
import { Denial } from '../denial.ts';
import type { Records } from '../records.ts';
import { isFor, type Target } from './audience.ts';
import type { ByteFilter, CellSecrets, RequestHead } from './contract.ts';
import { Finder, type Replacement } from './finder.ts';
import { everySpelling, textPattern } from './patterns.ts';
import { spelledFor, type Place } from './spelling.ts';
import { ValueGuard } from './value-guard.ts';

export interface CellSecretsOptions {
  granted: readonly GrantedSecret[];
  /** The network rules of the grant, with the schemes and ports of each host. */
  network: readonly NetworkRule[];
  /** By name, as in the cell's environment. */
  placeholders: Readonly<Record<string, string>>;
  /** Receives uses and denied attempts. */
  records: Records;
}

interface Filling {
  host: string;
  place: Place;
  value: string;
  found: string;
}

const MAX_FINDERS = 64;
/** Limit on values in answers. A service returns a key once or twice; more is an attack. */
const MAX_COVERED = 1024;
const BASIC = /^(basic +)([A-Za-z0-9+/_-]+=*) *$/i;
/** Encodings in which placeholders can be found. In a compressed body, a placeholder is not replaced. */
const UNCOMPRESSED: ReadonlySet<string> = new Set(['', 'identity']);

export function openSecrets(options: CellSecretsOptions): CellSecrets {
  return new OpenSecrets(options);
}

class OpenSecrets implements CellSecrets {
  readonly placeholders: Readonly<Record<string, string>>;
  readonly #options: CellSecretsOptions;
  readonly #guard: ValueGuard;
  #values: ReadonlyMap<string, string> = new Map();
  #covered = 0;
  readonly #finders = new Map<string, Finder>();

  constructor(options: CellSecretsOptions) {
    this.#options = options;
    this.placeholders = options.placeholders;
    const refuse = (secret: GrantedSecret, host: string): never => this.#refuse(secret, host);
    this.#guard = new ValueGuard({ ...options, refuse });
  }

  arm(values: ReadonlyMap<string, string>): void {
    this.#values = values;
    this.#guard.arm(values);
    this.#finders.clear();
  }

  fillHead(head: RequestHead): RequestHead {
    if (this.#options.granted.length === 0) return head;
    this.#guard.checkHead(head);
    const [before = '', ...query] = head.path.split('?');
    const filledPath = this.#finder(head, 'path').replaceIn(before);
    const filledQuery = query.map((part) => this.#finder(head, 'query').replaceIn(part));
    const filled: Record<string, string[]> = {};
    for (const [name, values] of Object.entries(head.headers))
      filled[name] = values.map((value) => this.#fillHeader(head, name, value));
    if (this.#mayReceive(head)) filled['accept-encoding'] = ['identity'];
    return { ...head, path: [filledPath, ...filledQuery].join('?'), headers: filled };
  }

  bodyFilter(head: RequestHead): ByteFilter {
    const encoding = (head.headers['content-encoding']?.[0] ?? '').toLowerCase();
    const filling = UNCOMPRESSED.has(encoding)
      ? this.#finder(head, placeOf(head.headers['content-type']?.[0] ?? ''))
      : // The body may be plain although its header says otherwise, so it is still searched for attempts.
        this.#cached(`watch ${keyOf(head)}`, () => new Finder(this.#refusals(head)));
    return this.#guard.inFrontOf(filling.filter(), head);
  }

  responseFilter(from: Target): ByteFilter | undefined {
    return this.#mayCover(from) ? this.#covering(from).filter() : undefined;
  }

  coverText(text: string, from: Target): string {
    return this.#mayCover(from) ? this.#covering(from).replaceIn(text) : text;
  }

  #isFor(secret: GrantedSecret, target: Target): boolean {
    return isFor(secret, target, this.#options.network);
  }

  #mayReceive(target: Target): boolean {
    return this.#options.granted.some((secret) => this.#isFor(secret, target));
  }

  #mayCover(from: Target): boolean {
    return this.#values.size > 0 && this.#mayReceive(from);
  }

  #fillHeader(to: Target, name: string, value: string): string {
    const [, scheme = '', encoded] = name === 'authorization' ? (BASIC.exec(value) ?? []) : [];
    if (encoded === undefined) return this.#finder(to, 'header').replaceIn(value);
    const credentials = Buffer.from(encoded, 'base64').toString('latin1');
    const filled = this.#finder(to, 'raw').replaceIn(credentials);
    return filled === credentials ? value : scheme + Buffer.from(filled, 'latin1').toString('base64');
  }

  #finder(to: Target, place: Place): Finder {
    return this.#cached(`${place} ${keyOf(to)}`, () => this.#newFinder(to, place));
  }

  #covering(from: Target): Finder {
    return this.#cached(`cover ${keyOf(from)}`, () => this.#newCovering(from));
  }

  /** Caches finders, because most calls send several requests to one host. */
  #cached(key: string, make: () => Finder): Finder {
    const known = this.#finders.get(key);
    if (known) return known;
    if (this.#finders.size >= MAX_FINDERS) this.#finders.clear();
    const finder = make();
    this.#finders.set(key, finder);
    return finder;
  }

  /** Replaces placeholders for this server by values, and throws on the placeholder of a secret that is not for it. */
  #newFinder(to: Target, place: Place): Finder {
    const fillings = this.#options.granted.flatMap((secret): Replacement[] => {
      const placeholder = this.placeholders[secret.name];
      const value = this.#valueFor(secret, to);
      if (placeholder === undefined || value === undefined) return [];
      const replace = (found: string): string => this.#fill(secret, { host: to.host, place, value, found });
      return [{ pattern: textPattern(placeholder), replace }];
    });
    return new Finder([...fillings, ...this.#refusals(to)]);
  }

  #refusals(to: Target): Replacement[] {
    return this.#options.granted.flatMap((secret): Replacement[] => {
      const placeholder = this.placeholders[secret.name];
      if (placeholder === undefined || this.#valueFor(secret, to) !== undefined) return [];
      const replace = (): never => this.#refuse(secret, to.host);
      return everySpelling(placeholder).map((pattern) => ({ pattern, replace }));
    });
  }

  /** Also undefined before the call has its values. */
  #valueFor(secret: GrantedSecret, to: Target): string | undefined {
    return this.#isFor(secret, to) ? this.#values.get(secret.name) : undefined;
  }

  #newCovering(from: Target): Finder {
    return new Finder(
      this.#options.granted.flatMap((secret): Replacement[] => {
        const value = this.#values.get(secret.name);
        if (value === undefined || !this.#isFor(secret, from)) return [];
        const replace = (found: string): string => this.#coverFound(found);
        return everySpelling(value).map((pattern) => ({ pattern, replace }));
      }),
    );
  }

  #coverFound(found: string): string {
    if (++this.#covered > MAX_COVERED)
      throw new BrokerRefusal('toobig', 'the answers of this call contain too many secrets');
    return '*'.repeat(found.length);
  }

  #fill({ name }: GrantedSecret, { host, ...spelling }: Filling): string {
    this.#options.records.note('used', {
      capability: 'secret',
      asked: `send ${name} to ${host}`,
      declared: 'granted',
    });
    return spelledFor(spelling.place, spelling);
  }

  #refuse({ name, hosts }: GrantedSecret, host: string): never {
    const declared = `exfiltration attempt: the secret is for ${hosts.join(', ')} alone`;
    const event = { capability: 'secret', asked: `send ${name} to ${host}`, declared } as const;
    this.#options.records.note('denied', event);
    throw new Denial(event);
  }
}

function keyOf({ host, port, isTls }: Target): string {
  return `${isTls ? 'tls' : 'plain'} ${port} ${host}`;
}

function placeOf(contentType: string): Place {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/x-www-form-urlencoded') return 'query';
  return type === 'application/json' || type.endsWith('+json') ? 'json' : 'raw';
}
