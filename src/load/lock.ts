/**
 * `skill.lock`: what a bundle was when somebody looked at it. At load, every file and the whole
 * capability set must still be the same, or nothing runs.
 *
 * @module
 */
import { z } from 'zod';
import { SkillError } from '../errors.ts';
import type { FileDigests } from './bundle.ts';
import { diffCapabilities } from './capability-set.ts';
import { digestFiles } from './digest.ts';
import type { Finding, Inspection } from './inspection.ts';
import { BUNDLE_LIMITS } from './read-bundle.ts';

export const MAX_LOCK_BYTES: number = 4 * 1024 * 1024;
const MAX_ENTRIES = 10_000;

const MAX_FINDING = 1024;

/** These are shown to people: nothing in them may hide or steer a terminal. */
const visibleText = z
  .string()
  .max(65_536)
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'has invisible characters');
const findings = z.array(z.string().max(MAX_FINDING)).max(MAX_ENTRIES);
const hex = z.string().regex(/^[0-9a-f]{64}$/, 'is no sha256 in hex');

function asMap(value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? new Map(Object.entries(value)) : value;
}

const lockSchema: z.ZodType<Lock> = z.strictObject({
  version: z.literal(1),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, 'is no sha256 digest'),
  // By way of a map: a record of zod loses a file that is called "__proto__".
  files: z.preprocess(
    asMap,
    z
      .map(visibleText, hex)
      .refine((files) => files.size <= BUNDLE_LIMITS.files, 'has too many files')
      .transform((files): FileDigests => Object.fromEntries(files)),
  ),
  capabilities: z.array(visibleText).max(MAX_ENTRIES),
  image: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, 'is no sha256 digest')
    .exactOptional(),
  inspection: z.strictObject({ modules: findings, interfaces: findings, env: findings, hosts: findings }),
});

export interface Lock {
  version: 1;
  digest: string;
  files: FileDigests;
  /** What the manifest asked for when it was locked. */
  capabilities: string[];
  /** Digest of the container image that calls run in, when there was one. */
  image?: string;
  /** What the code was seen to use. */
  inspection: { modules: string[]; interfaces: string[]; env: string[]; hosts: string[] };
}

export interface LockSource {
  files: FileDigests;
  digest: string;
  /** From `capabilitySet`. */
  capabilities: readonly string[];
  image?: string;
  inspection: Inspection;
}

export function makeLock(source: LockSource): Lock {
  const { inspection } = source;
  return {
    version: 1,
    digest: source.digest,
    files: sortKeys(source.files),
    capabilities: [...source.capabilities].sort(),
    ...(source.image === undefined ? {} : { image: source.image }),
    inspection: {
      modules: uniqueValues(inspection.modules),
      interfaces: uniqueValues(inspection.interfaces),
      env: uniqueValues(inspection.env),
      hosts: uniqueValues(inspection.hosts),
    },
  };
}

/** The text of `skill.lock`: the same lock always gives the same bytes. */
export function formatLock(lock: Lock): string {
  return `${JSON.stringify(lock, null, 2)}\n`;
}

export function parseLock(text: string): Lock {
  if (text.length > MAX_LOCK_BYTES) throw lockError(`it is longer than ${MAX_LOCK_BYTES} characters`);
  const parsed = lockSchema.safeParse(parseJson(text));
  if (!parsed.success) throw lockError(z.prettifyError(parsed.error).replaceAll('\n', ' '));
  if (digestFiles(parsed.data.files) !== parsed.data.digest) {
    throw lockError('its digest does not belong to its list of files');
  }
  return parsed.data;
}

/** Throws `manifest_drift` when the bundle is no longer what was locked. */
export function compareLock(lock: Lock, files: FileDigests, capabilities: readonly string[]): void {
  const drift = {
    changed: Object.keys(files).filter(
      (path) => Object.hasOwn(lock.files, path) && lock.files[path] !== files[path],
    ),
    missing: Object.keys(lock.files).filter((path) => !Object.hasOwn(files, path)),
    unlisted: Object.keys(files).filter((path) => !Object.hasOwn(lock.files, path)),
    capabilities: diffCapabilities(lock.capabilities, capabilities),
  };
  const findings = Object.entries(drift).filter(([, values]) => values.length > 0);
  if (findings.length === 0) return;
  const text = findings.map(([kind, values]) => `${kind}: ${shorten(values)}`).join('; ');
  throw new SkillError('manifest_drift', `The bundle is not what skill.lock describes: ${text}.`, {
    fix: 'Undo the change, or look at it with `skillcell inspect` and accept it with `skillcell lock`.',
    detail: drift,
  });
}

/** A message stays readable with a thousand changed files; the detail has them all. */
function shorten(values: readonly string[]): string {
  const shown = values.slice(0, 10).join(', ');
  return values.length > 10 ? `${shown} and ${values.length - 10} more` : shown;
}

function uniqueValues(findings: readonly Finding[]): string[] {
  const values = findings.map((finding) => finding.value.slice(0, MAX_FINDING));
  return [...new Set(values)].sort().slice(0, MAX_ENTRIES);
}

function sortKeys(files: FileDigests): FileDigests {
  return Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw lockError('it is no JSON', cause);
  }
}

function lockError(reason: string, cause?: unknown): SkillError {
  return new SkillError('manifest_invalid', `The file "skill.lock" cannot be used: ${reason}.`, {
    fix: 'Restore it, or look at the bundle with `skillcell inspect` and lock it anew with `skillcell lock`.',
    detail: { file: 'skill.lock', reason },
    cause,
  });
}
