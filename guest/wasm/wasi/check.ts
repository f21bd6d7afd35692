/**
 * Arguments of host functions come from a component that may declare types other than those of WASI. Each is checked
 * before use; a wrong one ends the guest.
 *
 * @module
 */
import { GuestEnd } from '../contract.ts';

const U64_END = 1n << 64n;

export function trap(message: string): never {
  throw new GuestEnd('trap', message);
}

export function asU64(value: unknown): bigint {
  if (typeof value !== 'bigint' || value < 0n || value >= U64_END) trap('An argument is not a u64');
  return value;
}

/** A u64 used as a count; larger values are capped at the largest safe integer. */
export function asCount(value: unknown): number {
  const count = asU64(value);
  return count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(count);
}

export function asU32(value: unknown): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 0xffffffff) {
    trap('An argument is not a u32');
  }
  return value;
}

export function asString(value: unknown): string {
  if (typeof value !== 'string') trap('An argument is not a string');
  return value;
}

export function asBytes(value: unknown): Uint8Array {
  if (!(value instanceof Uint8Array)) trap('An argument is not a list of bytes');
  return value;
}

export function asList(value: unknown): unknown[] {
  if (!Array.isArray(value)) trap('An argument is not a list');
  return value;
}

export function asPair(value: unknown): [unknown, unknown] {
  const list = asList(value);
  if (list.length !== 2) trap('An argument is not a pair');
  return [list[0], list[1]];
}

export function asRecord(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    trap('An argument is not a record');
  return value as Record<string, unknown>;
}

/** One flag of a flags value. */
export function asFlag(flags: Record<string, unknown>, name: string): boolean {
  const value = Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (typeof value !== 'boolean') trap(`An argument lacks the flag "${name}"`);
  return value;
}

export function asVariant(value: unknown): { tag: string; val: unknown } {
  const record = asRecord(value);
  return { tag: asString(record['tag']), val: record['val'] };
}

export function asOption<T>(value: unknown, convert: (value: unknown) => T): T | undefined {
  return value === undefined ? undefined : convert(value);
}

/** A resource of the right class; the handle table knows only its name. */
export function asResource<T>(value: unknown, kind: abstract new (...args: never[]) => T): T {
  if (!(value instanceof kind)) trap(`An argument is not a handle of ${kind.name}`);
  return value;
}
