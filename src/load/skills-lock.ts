/**
 * `skills.lock.json`: the fetched skills of a project, each pinned to exact bytes. It is made for version control: sorted,
 * one fact per line. A clone may bring it, so it permits nothing: it only says which bytes an id means.
 *
 * @module
 */
import { z } from 'zod';
import { SkillError } from '../errors.ts';
import { skillNameProblem } from '../manifest/names.ts';
import { shellWord } from '../manifest/quote.ts';
import { readPlainFile } from './plain-file.ts';

export const SKILLS_LOCK = 'skills.lock.json';
const MAX_SKILLS_LOCK_BYTES: number = 1024 * 1024;
const MAX_PINNED_SKILLS = 1000;
const MAX_CAPABILITIES = 2000;

/** Who signed the pinned bytes: a key, an identity that Sigstore vouches for, or nobody. */
export type Signer = 'unsigned' | { key: string } | { identity: string; issuer: string };

/** One skill of `skills.lock.json`. */
export interface SkillPin {
  /** Where it comes from, without its version. */
  source: string;
  /** What the skill itself says. */
  version: string;
  /** The tag, branch or version that was asked for; absent if the source has none. */
  tag?: string | undefined;
  /** What the source calls these bytes, such as a manifest digest or a commit. */
  revision: string;
  /** Of the bundle. */
  digest: string;
  /** Digest of `skill.lock`, which is not part of the bundle. */
  lock?: string | undefined;
  /** Digest of `skill.sig`. */
  signature?: string | undefined;
  signer: Signer;
  /** What a person accepted when it was added. */
  capabilities: string[];
}

export type SkillPins = ReadonlyMap<string, SkillPin>;

/** People read these values in diffs and on terminals. */
const visible = (max: number): z.ZodType<string> =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'has invisible characters');
const sha256 = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'is not a sha256 digest');
export const signerSchema: z.ZodType<Signer> = z.union([
  z.literal('unsigned'),
  z.strictObject({ key: z.string().regex(/^ed25519:[A-Za-z0-9+/]{43}=$/, 'is not an Ed25519 key') }),
  z.strictObject({ identity: visible(500), issuer: visible(500) }),
]);

const pin: z.ZodType<SkillPin> = z.strictObject({
  source: visible(1000),
  version: visible(200),
  tag: visible(200).exactOptional(),
  revision: visible(500),
  digest: sha256,
  lock: sha256.exactOptional(),
  signature: sha256.exactOptional(),
  signer: signerSchema,
  capabilities: z
    .array(visible(4096))
    .max(MAX_CAPABILITIES)
    .refine(isSorted, 'is not sorted, or has a line twice'),
});

const name = z.string().refine((text) => skillNameProblem(text) === undefined, 'is not "category/name"');

const schema = z.strictObject({
  version: z.literal(1),
  // Checked as a list of entries, because a record drops a key named "__proto__".
  skills: z.preprocess(
    (value) => (isPlainObject(value) ? new Map(Object.entries(value)) : value),
    z.map(name, pin).refine((skills) => skills.size <= MAX_PINNED_SKILLS, 'has too many skills'),
  ),
});

/** Throws `manifest_invalid`. An empty file pins nothing: people create one to protect the place. */
export function parseSkillsLock(text: string, file: string = SKILLS_LOCK): Map<string, SkillPin> {
  if (text.trim() === '') return new Map();
  if (Buffer.byteLength(text) > MAX_SKILLS_LOCK_BYTES)
    throw unusable(file, `it is larger than ${MAX_SKILLS_LOCK_BYTES} bytes`);
  const parsed = schema.safeParse(parseJson(text, file));
  if (!parsed.success) throw unusable(file, z.prettifyError(parsed.error).replaceAll('\n', ' '));
  return parsed.data.skills;
}

/** Equal pins give equal bytes, in whatever order they were added. */
export function formatSkillsLock(pins: SkillPins): string {
  const names = [...pins.keys()].sort();
  const skills = Object.fromEntries(names.map((one) => [one, inOrder(pins.get(one))]));
  return `${JSON.stringify({ version: 1, skills }, null, 2)}\n`;
}

/** Nothing is pinned if there is no file. */
export function readSkillsLock(file: string): Map<string, SkillPin> {
  const text = readPlainFile(file, MAX_SKILLS_LOCK_BYTES, (reason) => unusable(file, reason));
  return text === undefined ? new Map() : parseSkillsLock(text, file);
}

function inOrder(given: SkillPin | undefined): SkillPin | undefined {
  if (!given) return undefined;
  const { source, version, tag, revision, digest, lock, signature, signer: by, capabilities } = given;
  return {
    source,
    version,
    ...(tag === undefined ? {} : { tag }),
    revision,
    digest,
    ...(lock === undefined ? {} : { lock }),
    ...(signature === undefined ? {} : { signature }),
    signer: signerInOrder(by),
    capabilities: [...new Set(capabilities)].sort(),
  };
}

function signerInOrder(by: Signer): Signer {
  if (by === 'unsigned') return by;
  return 'key' in by ? { key: by.key } : { identity: by.identity, issuer: by.issuer };
}

function isSorted(lines: readonly string[]): boolean {
  return lines.every((line, at) => at === 0 || (lines[at - 1] ?? '') < line);
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string, file: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw unusable(file, 'it is not valid JSON', cause);
  }
  // A reviewer may read the first of two pins with one name, and the last one would count.
  if (withoutSpace(text) === JSON.stringify(value)) return value;
  throw unusable(file, 'it has a key twice, or escapes plain characters');
}

function withoutSpace(text: string): string {
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string: string | undefined) => string ?? '');
}

function unusable(file: string, reason: string, cause?: unknown): SkillError {
  return new SkillError('manifest_invalid', `The file ${JSON.stringify(file)} cannot be used: ${reason}.`, {
    fix: `Restore it from version control, for example: git checkout -- ${shellWord(file)}`,
    detail: { file, reason },
    cause,
  });
}
