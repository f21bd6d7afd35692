/**
 * The resource `fields` of `wasi:http/types`: headers whose names and values cannot break out of their line.
 *
 * @module
 */
import { GuestEnd, type HostFunction } from '../../contract.ts';
import { currentCall, type Slot } from '../call.ts';
import { asBytes, asList, asPair, asResource, asString } from '../check.ts';
import { isFieldValue, isForbidden, isToken } from './rules.ts';

type HeaderError = { tag: 'invalid-syntax' | 'forbidden' | 'immutable' };
type Changed = { ok: undefined } | { err: HeaderError };
type Entry = [name: string, value: Uint8Array];

const DONE: Changed = { ok: undefined };
/** What an entry costs in addition to its characters. */
const ENTRY_COST = 32;

export class Fields {
  readonly #limit: number;
  readonly #immutable: boolean;
  #entries: Entry[] = [];
  #size = 0;

  constructor(limit: number, immutable = false) {
    this.#limit = limit;
    this.#immutable = immutable;
  }

  /** For a response: incoming headers are not subject to the rules for outgoing ones. */
  static received(limit: number, headers: readonly (readonly [string, string])[]): Fields {
    const fields = new Fields(limit, true);
    for (const [name, value] of headers) fields.#add(name, Buffer.from(value, 'latin1'));
    return fields;
  }

  copy(immutable: boolean): Fields {
    const fields = new Fields(this.#limit, immutable);
    fields.#entries = [...this.#entries];
    fields.#size = this.#size;
    return fields;
  }

  get(name: string): Uint8Array[] {
    const key = name.toLowerCase();
    return this.#entries.filter((entry) => entry[0].toLowerCase() === key).map((entry) => entry[1]);
  }

  entries(): Entry[] {
    return [...this.#entries];
  }

  set(name: string, values: readonly Uint8Array[]): Changed {
    const error = this.#judge(name, values);
    if (error !== undefined) return { err: error };
    this.#remove(name);
    for (const value of values) this.#add(name, value);
    return DONE;
  }

  append(name: string, value: Uint8Array): Changed {
    const error = this.#judge(name, [value]);
    if (error !== undefined) return { err: error };
    this.#add(name, value);
    return DONE;
  }

  delete(name: string): Changed {
    const error = this.#judge(name, []);
    if (error !== undefined) return { err: error };
    this.#remove(name);
    return DONE;
  }

  #judge(name: string, values: readonly Uint8Array[]): HeaderError | undefined {
    if (this.#immutable) return { tag: 'immutable' };
    if (!isToken(name) || !values.every((value) => isFieldValue(value))) return { tag: 'invalid-syntax' };
    return isForbidden(name) ? { tag: 'forbidden' } : undefined;
  }

  #add(name: string, value: Uint8Array): void {
    this.#size += name.length + value.length + ENTRY_COST;
    if (this.#size > this.#limit) throw new GuestEnd('limit', 'http_headers');
    this.#entries.push([name, value]);
  }

  #remove(name: string): void {
    const key = name.toLowerCase();
    this.#entries = this.#entries.filter((entry) => entry[0].toLowerCase() !== key);
    this.#size = this.#entries.reduce(
      (size, entry) => size + entry[0].length + entry[1].length + ENTRY_COST,
      0,
    );
  }
}

export function asFields(value: unknown): Fields {
  return asResource(value, Fields);
}

export function fieldsFunctions(slot: Slot): Record<string, HostFunction> {
  const create = (): Fields => new Fields(currentCall(slot).limits.headerBytes);
  return {
    '[constructor]fields': { call: create },
    '[static]fields.from-list': { call: (list) => fromList(create(), asList(list)) },
    '[method]fields.get': { call: (self, name) => asFields(self).get(asString(name)) },
    '[method]fields.has': { call: (self, name) => asFields(self).get(asString(name)).length > 0 },
    '[method]fields.set': {
      call: (self, name, values) =>
        asFields(self).set(
          asString(name),
          asList(values).map((value) => asBytes(value)),
        ),
    },
    '[method]fields.delete': { call: (self, name) => asFields(self).delete(asString(name)) },
    '[method]fields.append': {
      call: (self, name, value) => asFields(self).append(asString(name), asBytes(value)),
    },
    '[method]fields.entries': { call: (self) => asFields(self).entries() },
    '[method]fields.clone': { call: (self) => asFields(self).copy(false) },
  };
}

function fromList(fields: Fields, list: unknown[]): { ok: Fields } | { err: HeaderError } {
  for (const item of list) {
    const [name, value] = asPair(item);
    const changed = fields.append(asString(name), asBytes(value));
    if ('err' in changed) return changed;
  }
  return { ok: fields };
}
