/**
 * `skill.lock`: the state of a bundle when it was reviewed. At load, every file and the whole capability set must be
 * unchanged, or nothing runs.
 *
 * @module
 */
import { z } from 'zod';
import { SkillError } from '../errors.ts';
import type { FileDigests } from './bundle.ts';
import { diffCapabilities } from './capability-set.ts';
import { digestFiles } from './digest.ts';
import type { Finding, Inspection } from './inspection.ts';
import { lockedPackagesSchema, type LockedPackages } from './locked-packages.ts';
import { NPM_LINE } from './npm-packages.ts';
import { BUNDLE_LIMITS } from './read-bundle.ts';

export const MAX_LOCK_BYTES: number = 4 * 1024 * 1024;
const MAX_ENTRIES = 10_000;

const MAX_FINDING = 1024;

/** People read these values, so they must not contain hidden characters or terminal controls. */
const visibleText = z
  .string()
  .max(65_536)
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'has invisible characters');
const findings = z.array(z.string().max(MAX_FINDING)).max(MAX_ENTRIES);
const hex = z.string().regex(/^[0-9a-f]{64}$/, 'is not a sha256 in hex');

function asMap(value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? new Map(Object.entries(value)) : value;
}

const lockSchema: z.ZodType<Lock> = z.strictObject({
  version: z.literal(1),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/, 'is not a sha256 digest'),
  // Parsed as a map, because a zod record drops a file named "__proto__".
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
    .regex(/^sha256:[0-9a-f]{64}$/, 'is not a sha256 digest')
    .exactOptional(),
  packages: lockedPackagesSchema.exactOptional(),
  npm: z
    .array(z.string().max(1000).regex(NPM_LINE, 'is not a package with version and integrity'))
    .max(MAX_ENTRIES)
    .exactOptional(),
  inspection: z.strictObject({ modules: findings, interfaces: findings, env: findings, hosts: findings }),
});

export interface Lock {
  version: 1;
  digest: string;
  files: FileDigests;
  /** The capability set at the time of locking. */
  capabilities: string[];
  /** Digest of the container image that calls run in, if the skill has one. */
  image?: string;
  /** The packages that calls run with; absent if there are none, or none were installed when it was written. */
  packages?: LockedPackages;
  /** The npm packages in the built script: name, version and integrity. The digest of the script covers their code. */
  npm?: string[];
  /** The findings of static inspection. */
  inspection: { modules: string[]; interfaces: string[]; env: string[]; hosts: string[] };
}

export interface LockSource {
  files: FileDigests;
  digest: string;
  /** From `capabilitySet`. */
  capabilities: readonly string[];
  image?: string;
  packages?: LockedPackages | undefined;
  npm?: string[] | undefined;
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
    ...(source.packages === undefined ? {} : { packages: source.packages }),
    ...(source.npm === undefined ? {} : { npm: source.npm }),
    inspection: {
      modules: uniqueValues(inspection.modules),
      interfaces: uniqueValues(inspection.interfaces),
      env: uniqueValues(inspection.env),
      hosts: uniqueValues(inspection.hosts),
    },
  };
}

/** The text of `skill.lock`. Equal locks produce equal bytes. */
export function formatLock(lock: Lock): string {
  return `${JSON.stringify(lock, null, 2)}\n`;
}

export function parseLock(text: string): Lock {
  if (text.length > MAX_LOCK_BYTES) throw lockError(`it is longer than ${MAX_LOCK_BYTES} characters`);
  const parsed = lockSchema.safeParse(parseJson(text));
  if (!parsed.success) throw lockError(z.prettifyError(parsed.error).replaceAll('\n', ' '));
  if (digestFiles(parsed.data.files) !== parsed.data.digest) {
    throw lockError('its digest does not match its list of files');
  }
  return parsed.data;
}

/** Throws `manifest_drift` if the bundle differs from its lock. */
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
  throw new SkillError('manifest_drift', `The bundle differs from its skill.lock: ${text}.`, {
    fix: 'Undo the change, or read what changed and accept it with `skillcell lock`.',
    detail: drift,
  });
}

/** Keeps the message readable with a thousand changed files; the detail lists all of them. */
function shorten(values: readonly string[]): string {
  const listed = values.slice(0, 10).join(', ');
  return values.length > 10 ? `${listed} and ${values.length - 10} more` : listed;
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
    throw lockError('it is not valid JSON', cause);
  }
}

function lockError(reason: string, cause?: unknown): SkillError {
  return new SkillError('manifest_invalid', `The file "skill.lock" cannot be used: ${reason}.`, {
    fix: 'Restore it, or read the bundle and lock it again with `skillcell lock`.',
    detail: { file: 'skill.lock', reason },
    cause,
  });
}
