/**
 * One failure in three vocabularies: the broker's code, the name in `wasi:filesystem`, the number in preview1.
 *
 * @module
 */
import { BrokerError } from './broker-client.ts';

/** Broker code → name in `wasi:filesystem/types.error-code`, errno of preview1. */
const CODES: ReadonlyMap<string, readonly [string, number]> = new Map<string, readonly [string, number]>([
  ['denied', ['not-permitted', 63]],
  ['acces', ['access', 2]],
  ['again', ['would-block', 6]],
  ['badf', ['bad-descriptor', 8]],
  ['busy', ['busy', 10]],
  ['dquot', ['quota', 19]],
  ['exist', ['exist', 20]],
  ['fault', ['invalid', 21]],
  ['fbig', ['file-too-large', 22]],
  ['ilseq', ['illegal-byte-sequence', 25]],
  ['intr', ['interrupted', 27]],
  ['inval', ['invalid', 28]],
  ['io', ['io', 29]],
  ['isdir', ['is-directory', 31]],
  ['loop', ['loop', 32]],
  ['mfile', ['insufficient-memory', 33]],
  ['mlink', ['too-many-links', 34]],
  ['nametoolong', ['name-too-long', 37]],
  ['nodev', ['no-device', 43]],
  ['noent', ['no-entry', 44]],
  ['nomem', ['insufficient-memory', 48]],
  ['nospc', ['insufficient-space', 51]],
  ['notdir', ['not-directory', 54]],
  ['notempty', ['not-empty', 55]],
  ['notsock', ['bad-descriptor', 57]],
  ['notsup', ['unsupported', 58]],
  ['nxio', ['no-such-device', 60]],
  ['overflow', ['overflow', 61]],
  ['perm', ['not-permitted', 63]],
  ['pipe', ['pipe', 64]],
  ['rofs', ['read-only', 69]],
  ['spipe', ['invalid-seek', 70]],
  ['txtbsy', ['text-file-busy', 74]],
  ['xdev', ['cross-device', 75]],
  ['notcapable', ['not-permitted', 76]],
  ['nosys', ['unsupported', 52]],
]);

const UNKNOWN: readonly [string, number] = ['io', 29];

/** The WASI name of a failed file operation; errors that are not from the broker are rethrown. */
export function filesystemCode(error: unknown): string {
  return lookUp(error)[0];
}

/** The errno of a failed operation; errors that are not from the broker are rethrown. */
export function errnoOf(error: unknown): number {
  return lookUp(error)[1];
}

function lookUp(error: unknown): readonly [string, number] {
  if (!(error instanceof BrokerError)) throw error;
  return CODES.get(error.code) ?? UNKNOWN;
}
