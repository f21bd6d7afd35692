/**
 * The secrets of one cell at the place where its requests leave. A placeholder is worth something only here, and only in
 * a request to a host that the manifest names for it; so what a cell does with its placeholders elsewhere gives nothing
 * away, but tells what it tried.
 *
 * @module
 */
import type { GrantedSecret } from '../../policy/grant.ts';
import { hostCovers } from '../../policy/patterns.ts';
import { Denial } from '../denial.ts';
import type { Records } from '../records.ts';
import type { ByteFilter, CellSecrets, RequestHead } from './contract.ts';
import { Finder, type Sought } from './finder.ts';
import { everySpelling, textPattern } from './patterns.ts';
import { spelledFor, type Place } from './spelling.ts';

export interface CellSecretsOptions {
  granted: readonly GrantedSecret[];
  /** By name, as the cell's environment has them. */
  placeholders: Readonly<Record<string, string>>;
  /** Where attempts are noted. */
  records: Records;
}

interface Filling {
  host: string;
  place: Place;
  value: string;
  found: string;
}

const MOST_FINDERS = 64;
const BASIC = /^(basic +)([A-Za-z0-9+/_-]+=*) *$/i;
/** A body in one of these cannot be read without undoing it, and a placeholder inside of it is worth nothing. */
const UNCOMPRESSED: ReadonlySet<string> = new Set(['', 'identity']);

export function openSecrets(options: CellSecretsOptions): CellSecrets {
  return new OpenSecrets(options);
}

class OpenSecrets implements CellSecrets {
  readonly placeholders: Readonly<Record<string, string>>;
  readonly #options: CellSecretsOptions;
  #values: ReadonlyMap<string, string> = new Map();
  #cover: Finder | undefined;
  readonly #finders = new Map<string, Finder>();

  constructor(options: CellSecretsOptions) {
    this.#options = options;
    this.placeholders = options.placeholders;
  }

  arm(values: ReadonlyMap<string, string>): void {
    this.#values = values;
    this.#cover = undefined;
    this.#finders.clear();
  }

  fillHead({ host, path, headers }: RequestHead): RequestHead {
    if (this.#options.granted.length === 0) return { host, path, headers };
    const [before = '', ...query] = path.split('?');
    const filledPath = this.#finder(host, 'path').replaceIn(before);
    const filledQuery = query.map((part) => this.#finder(host, 'query').replaceIn(part));
    const filled: Record<string, string[]> = {};
    for (const [name, values] of Object.entries(headers))
      filled[name] = values.map((value) => this.#fillHeader(host, name, value));
    if (this.mayChangeBody(host)) filled['accept-encoding'] = ['identity'];
    return { host, path: [filledPath, ...filledQuery].join('?'), headers: filled };
  }

  mayChangeBody(host: string): boolean {
    return this.#options.granted.some((secret) => isFor(secret, host));
  }

  bodyFilter({ host, headers }: RequestHead): ByteFilter {
    const encoding = (headers['content-encoding']?.[0] ?? '').toLowerCase();
    if (!UNCOMPRESSED.has(encoding)) return AS_IT_IS;
    return this.#finder(host, placeOf(headers['content-type']?.[0] ?? '')).filter();
  }

  responseFilter(): ByteFilter | undefined {
    return this.#values.size === 0 ? undefined : this.#covering().filter();
  }

  coverText(text: string): string {
    return this.#values.size === 0 ? text : this.#covering().replaceIn(text);
  }

  #fillHeader(host: string, name: string, value: string): string {
    const [, scheme = '', encoded] = name === 'authorization' ? (BASIC.exec(value) ?? []) : [];
    if (encoded === undefined) return this.#finder(host, 'header').replaceIn(value);
    const credentials = Buffer.from(encoded, 'base64').toString('latin1');
    const filled = this.#finder(host, 'raw').replaceIn(credentials);
    return filled === credentials ? value : scheme + Buffer.from(filled, 'latin1').toString('base64');
  }

  /** Kept for the next request: a call mostly speaks to one host. */
  #finder(host: string, place: Place): Finder {
    const key = `${place} ${host}`;
    const known = this.#finders.get(key);
    if (known) return known;
    if (this.#finders.size >= MOST_FINDERS) this.#finders.clear();
    const made = this.#newFinder(host, place);
    this.#finders.set(key, made);
    return made;
  }

  /** Puts values into what goes to this host, and throws at the placeholder of a secret that is not for it. */
  #newFinder(host: string, place: Place): Finder {
    return new Finder(
      this.#options.granted.flatMap((secret): Sought[] => {
        const placeholder = this.placeholders[secret.name];
        if (placeholder === undefined) return [];
        const value = this.#values.get(secret.name);
        if (value !== undefined && isFor(secret, host)) {
          const fill = (found: string): string => this.#fill(secret, { host, place, value, found });
          return [{ pattern: textPattern(placeholder), replace: fill }];
        }
        return everySpelling(placeholder).map((pattern) => ({
          pattern,
          replace: () => this.#refuse(secret, host),
        }));
      }),
    );
  }

  #fill({ name }: GrantedSecret, { host, ...spelling }: Filling): string {
    this.#options.records.note('used', {
      capability: 'secret',
      asked: `send ${name} to ${host}`,
      declared: 'granted',
    });
    return spelledFor(spelling.place, spelling);
  }

  #covering(): Finder {
    this.#cover ??= new Finder(
      [...this.#values.values()].flatMap((value) =>
        everySpelling(value).map((pattern) => ({ pattern, replace: (found) => '*'.repeat(found.length) })),
      ),
    );
    return this.#cover;
  }

  #refuse({ name, hosts }: GrantedSecret, host: string): never {
    const declared = `exfiltration attempt: the secret is for ${hosts.join(', ')} alone`;
    const event = { capability: 'secret', asked: `send ${name} to ${host}`, declared } as const;
    this.#options.records.note('denied', event);
    throw new Denial(event);
  }
}

function isFor({ hosts, anyHost }: GrantedSecret, host: string): boolean {
  return anyHost === true || hosts.some((pattern) => hostCovers(pattern, host));
}

function placeOf(contentType: string): Place {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/x-www-form-urlencoded') return 'query';
  return type === 'application/json' || type.endsWith('+json') ? 'json' : 'raw';
}

const AS_IT_IS: ByteFilter = { push: (chunk) => chunk, end: () => new Uint8Array() };
