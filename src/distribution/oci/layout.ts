/**
 * The layout of a skill in a registry: one archive with its files, as other programs for Agent Skills write and read it, and
 * one layer with its lock and signatures. The same bundle always gives the same artifact.
 *
 * @module
 */
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { z } from 'zod';
import { TAR_END, tarHead, tarPadding } from '../../cell/images/tar-writer.ts';
import { digestFiles, sha256 } from '../../load/digest.ts';
import { MAX_LOCK_BYTES, parseLock } from '../../load/lock.ts';
import { LOCK_FILE, SIGNATURE_FILE, type BundleFiles } from '../../load/read-bundle.ts';
import { ANNOTATIONS, MANIFEST_TYPES, SKILL_TYPES } from '../../vocabulary/oci-types.ts';
import { SKILL_ARCHIVE } from '../archives/limits.ts';
import { readArchive } from '../archives/read-archive.ts';
import { jsonBlob, makeBlob, type Blob, type Descriptor, type Manifest } from './manifest.ts';
import { artifactDrift, artifactRefused } from './problems.ts';

const compress = promisify(gzip);
/** More takes much longer and saves little. */
const GZIP_LEVEL = 6;
/** Byte 9 of a gzip header names the operating system; 255 is "unknown". */
const GZIP_SYSTEM_AT = 9;
const MAX_LOCK_LAYER = 3 * MAX_LOCK_BYTES;

export interface SkillContent extends Pick<BundleFiles, 'contents' | 'digest'> {
  /** `category/name`. */
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly lock: Buffer;
  readonly signature?: Buffer | undefined;
}

/** A manifest with everything that has to be pushed before it. */
export interface Artifact {
  readonly manifest: Blob;
  readonly blobs: readonly Blob[];
}

export async function packSkill(skill: SkillContent): Promise<Artifact> {
  const { version, description, lock, signature } = skill;
  const name = folderName(skill.name);
  const content = makeBlob(
    SKILL_TYPES.content,
    await packFiles(name, skill.contents),
    `${name}-${version}.tar.gz`,
  );
  const texts = {
    lock: lock.toString('utf8'),
    ...(signature ? { signature: signature.toString('utf8') } : {}),
  };
  const locked = makeBlob(
    SKILL_TYPES.lock,
    Buffer.from(JSON.stringify(texts)),
    `${name}-${version}.lock.json`,
  );
  const config = jsonBlob(SKILL_TYPES.config, { schemaVersion: '0.1.0', name, version, description });
  const manifest: Manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST_TYPES.image,
    artifactType: SKILL_TYPES.artifact,
    config: config.descriptor,
    layers: [content.descriptor, locked.descriptor],
    annotations: {
      [ANNOTATIONS.bundleDigest]: skill.digest,
      [ANNOTATIONS.skillName]: name,
      [ANNOTATIONS.title]: skill.name,
      [ANNOTATIONS.version]: version,
    },
  };
  return { manifest: jsonBlob(MANIFEST_TYPES.image, manifest), blobs: [config, content, locked] };
}

/** Agents know a skill by the second half of its name, and archives have a folder of that name. */
function folderName(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}

/** Sorted, without times and owners. Programs are those files that start with `#!`: a bundle keeps no modes. */
async function packFiles(folder: string, files: ReadonlyMap<string, Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (const path of [...files.keys()].sort()) {
    const bytes = files.get(path) ?? Buffer.alloc(0);
    const name = Buffer.from(`${folder}/${path}`).toString('latin1');
    const mode = bytes.toString('latin1', 0, 2) === '#!' ? 0o755 : 0o644;
    const head = tarHead({ type: '0', name, linkName: '', mode, uid: 0, gid: 0, size: bytes.length });
    parts.push(head, bytes, tarPadding(bytes.length));
  }
  const packed = await compress(Buffer.concat([...parts, TAR_END]), {
    level: GZIP_LEVEL,
    memLevel: constants.Z_MAX_MEMLEVEL,
  });
  packed[GZIP_SYSTEM_AT] = 255;
  return packed;
}

const lockLayer = z.strictObject({ lock: z.string(), signature: z.string().exactOptional() });

export interface UnpackedSkill {
  /** By path, with `skill.lock` and `skill.sig` if it has them. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly digest: string;
}

export type PullLayer = (layer: Descriptor, what: string, maxBytes: number) => Promise<Buffer>;

/** Reads a skill that we or others published. Digest, annotation and lock have to agree. */
export async function unpackSkill(manifest: Manifest, what: string, pull: PullLayer): Promise<UnpackedSkill> {
  const { content, locked } = layersOf(manifest, what);
  const [packed, lockText] = await Promise.all([
    pull(content, `the files of ${what}`, SKILL_ARCHIVE.packedBytes),
    locked && pull(locked, `the lock of ${what}`, MAX_LOCK_LAYER),
  ]);
  const read = await readArchive(packed, {
    what: `The archive of ${what}`,
    format: 'tar+gzip',
    top: 'remove',
  });
  const files = new Map(read.files);
  if (lockText) addLock(files, lockText, what);
  return { files, digest: agreedDigest(files, manifest, what) };
}

export interface PulledLock {
  readonly lock: Buffer;
  readonly signature?: Buffer | undefined;
}

/** The lock and signatures of a published skill without its files; undefined if it has none. */
export async function pullLock(
  manifest: Manifest,
  what: string,
  pull: PullLayer,
): Promise<PulledLock | undefined> {
  const { locked } = layersOf(manifest, what);
  if (!locked) return undefined;
  const files = new Map<string, Buffer>();
  addLock(files, await pull(locked, `the lock of ${what}`, MAX_LOCK_LAYER), what);
  const [lock, signature] = [files.get(LOCK_FILE), files.get(SIGNATURE_FILE)];
  if (!lock) return undefined;
  const claimed = manifest.annotations?.[ANNOTATIONS.bundleDigest];
  const { digest } = parseLock(lock.toString('utf8'));
  if (claimed !== undefined && claimed !== digest)
    throw artifactDrift(what, `its skill.lock has the digest ${digest}, and its annotation says ${claimed}`);
  return { lock, signature };
}

function layersOf(
  { artifactType, config, layers }: Manifest,
  what: string,
): { content: Descriptor; locked: Descriptor | undefined } {
  // Older programs wrote no artifact type; then the type of the config counts.
  const isSkill =
    (artifactType ?? SKILL_TYPES.artifact) === SKILL_TYPES.artifact &&
    config.mediaType === SKILL_TYPES.config;
  if (!isSkill) throw artifactRefused(what, 'it is not a skill but another kind of artifact');
  const contents = layers.filter(({ mediaType }) => mediaType === SKILL_TYPES.content);
  const locks = layers.filter(({ mediaType }) => mediaType === SKILL_TYPES.lock);
  const [content] = contents;
  if (!content) throw artifactRefused(what, 'it has no layer with the files of a skill');
  if (contents.length > 1 || locks.length > 1)
    throw artifactRefused(what, 'it has two layers of the same type');
  return { content, locked: locks[0] };
}

function addLock(files: Map<string, Buffer>, bytes: Buffer, what: string): void {
  let layer: z.infer<typeof lockLayer>;
  try {
    layer = lockLayer.parse(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    throw artifactRefused(what, 'its layer with the lock is malformed', cause);
  }
  const present = [LOCK_FILE, SIGNATURE_FILE].find((file) => files.has(file));
  if (present !== undefined) throw artifactRefused(what, `it has "${present}" twice`);
  files.set(LOCK_FILE, Buffer.from(layer.lock));
  if (layer.signature !== undefined) files.set(SIGNATURE_FILE, Buffer.from(layer.signature));
}

function agreedDigest(files: ReadonlyMap<string, Buffer>, manifest: Manifest, what: string): string {
  const own = [...files].filter(([path]) => path !== LOCK_FILE && path !== SIGNATURE_FILE);
  const digest = digestFiles(Object.fromEntries(own.map(([path, bytes]) => [path, sha256(bytes)])));
  const lock = files.get(LOCK_FILE);
  const claims = {
    'its annotation': manifest.annotations?.[ANNOTATIONS.bundleDigest],
    'its skill.lock': lock && parseLock(lock.toString('utf8')).digest,
  };
  for (const [where, claimed] of Object.entries(claims))
    if (claimed !== undefined && claimed !== digest)
      throw artifactDrift(what, `its files have the digest ${digest}, and ${where} says ${claimed}`, {
        digest,
        claimed,
      });
  if (claims['its annotation'] !== undefined && !lock)
    throw artifactDrift(what, 'it was published with a skill.lock, which is missing');
  return digest;
}
