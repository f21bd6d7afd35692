/**
 * Skills that tenants uploaded: `tenants/<name>/uploads` in Skillcell's own folder. They stay there, each tenant sees only
 * its own, and nothing of them runs before the operator's policy or an approval allows it.
 *
 * @module
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ByteStream } from '../distribution/archives/chunks.ts';
import { SKILL_ARCHIVE } from '../distribution/archives/limits.ts';
import { readArchive } from '../distribution/archives/read-archive.ts';
import { SkillError, toSkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import { sha256 } from '../load/digest.ts';
import type { BundleLocation } from '../load/load-bundle.ts';
import { LOCK_FILE, SIGNATURE_FILE } from '../load/read-bundle.ts';
import { realOrGiven } from '../load/registries.ts';
import { removeTreeSync } from '../load/remove-tree.ts';
import { tenantHome } from '../load/tenant-home.ts';
import { quote } from '../manifest/quote.ts';
import type { Runtime } from '../runtime.ts';
import { describeSkill, type Sentence } from '../trust/plain-words.ts';
import type { Tenant, UploadLimits } from './tenants-file.ts';
import { UploadDraft, writeRecord } from './upload-files.ts';
import { UploadSlots } from './upload-slots.ts';

/** A skill that a tenant uploaded. */
export interface Upload {
  name: string;
  version: string;
  digest: string;
  bytes: number;
  /** Who uploaded it. */
  by: string;
  at: string;
}

/** What became of an upload. */
export interface ReceivedUpload extends Upload {
  /** `quarantined`: it needs an approval before it can be called. */
  state: 'allowed' | 'quarantined';
  /** What it asks for, in plain words. */
  asks: Sentence[];
}

export interface UploadRequest {
  tenant: Tenant;
  archive: ByteStream;
  by: string;
}

const recordSchema: z.ZodType<Upload> = z.strictObject({
  name: z.string(),
  version: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  bytes: z.number(),
  by: z.string(),
  at: z.string(),
});

/** The uploaded skills of all tenants of a runtime. */
export class Uploads {
  readonly #runtime: Runtime;
  readonly #slots = new UploadSlots();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** The uploads of a tenant, by name. */
  list(tenant: string): Upload[] {
    const files = namesIn(this.#folder(tenant)).filter((file) => file.endsWith('.json'));
    const found = files.flatMap((file) => readRecord(join(this.#folder(tenant), file)) ?? []);
    return found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The upload of this tenant with this id. */
  find(tenant: string, id: string): Upload | undefined {
    const found = readRecord(join(this.#folder(tenant), recordFile(id)));
    return found?.name === id ? found : undefined;
  }

  /** Where an upload is, for the tenant that it belongs to. */
  locate(tenant: string, { name, digest }: Upload): BundleLocation {
    const dir = join(realOrGiven(this.#folder(tenant)), folderOf(digest), name);
    return { ref: name, dir, ids: [], aliases: [], origin: 'external' };
  }

  /** Reads, verifies and judges an archive, and keeps it. Throws if the policy refuses it, and then keeps nothing. */
  async receive({ tenant, archive, by }: UploadRequest): Promise<ReceivedUpload> {
    const { context, uploads: limits } = tenant;
    if (!limits) throw notAllowed();
    using _ = this.#slots.enter(context.name);
    const files = await unpack(archive, limits);
    using draft = UploadDraft.write(this.#folder(context.name), files);
    const bundle = await this.#runtime.sources.examine(draft.folder, files);
    const { name, version } = bundle.manifest;
    this.#assertFree(name);
    this.#assertRoom({ tenant: context.name, name, bytes: bytesOf(files) }, limits);
    const state = await this.#judge(bundle, tenant);
    draft.keepOnly(new Set([...Object.keys(bundle.files), LOCK_FILE, SIGNATURE_FILE]), files.keys());
    draft.keep(folderOf(bundle.digest), name);
    const { digest } = bundle;
    const record = { name, version, digest, bytes: bytesOf(files), by, at: new Date().toISOString() };
    writeRecord(this.#folder(context.name), recordFile(name), record);
    this.#removeUnused(context.name);
    return { ...record, state, asks: describeSkill(bundle) };
  }

  /** Returns false if the tenant has no such upload. */
  remove(tenant: string, id: string): boolean {
    if (!this.find(tenant, id)) return false;
    rmSync(join(this.#folder(tenant), recordFile(id)), { force: true });
    this.#removeUnused(tenant);
    return true;
  }

  async #judge(bundle: Bundle, { context }: Tenant): Promise<ReceivedUpload['state']> {
    try {
      await this.#runtime.admit(bundle, context);
      return 'allowed';
    } catch (error) {
      if (toSkillError(error).code === 'approval_required') return 'quarantined';
      throw error;
    }
  }

  /** An id of the operator always means the operator's skill. */
  #assertFree(name: string): void {
    const isTaken = this.#runtime
      .list()
      .some(({ ref, ids, aliases }) => ref === name || ids?.includes(name) || aliases?.includes(name));
    if (isTaken) throw taken(name);
  }

  #assertRoom(
    { tenant, name, bytes }: { tenant: string; name: string; bytes: number },
    limits: UploadLimits,
  ): void {
    const others = this.list(tenant).filter((one) => one.name !== name);
    if (others.length >= limits.skills) throw full(`${limits.skills} skills`);
    const total = others.reduce((sum, one) => sum + one.bytes, bytes);
    if (total > limits.bytes) throw full(`${limits.bytes} bytes`);
  }

  /** Removes folders that no record names: of replaced and removed uploads, and of interrupted ones. */
  #removeUnused(tenant: string): void {
    const folder = this.#folder(tenant);
    const used = new Set(this.list(tenant).map(({ digest }) => folderOf(digest)));
    for (const name of namesIn(folder))
      if (/^[0-9a-f]{64}$/.test(name) && !used.has(name)) removeTreeSync(join(folder, name));
  }

  #folder(tenant: string): string {
    return join(tenantHome(this.#runtime.home, tenant), 'uploads');
  }
}

async function unpack(archive: ByteStream, limits: UploadLimits): Promise<ReadonlyMap<string, Buffer>> {
  const bytes = Math.min(SKILL_ARCHIVE.bytes, limits.bytes);
  const { files } = await readArchive(archive, {
    what: 'The archive',
    limits: { ...SKILL_ARCHIVE, bytes, packedBytes: limits.size },
    top: 'find',
  });
  return files;
}

function bytesOf(files: ReadonlyMap<string, Buffer>): number {
  return [...files.values()].reduce((sum, { length }) => sum + length, 0);
}

function recordFile(name: string): string {
  return `${sha256(name)}.json`;
}

function folderOf(digest: string): string {
  return digest.slice('sha256:'.length);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Nothing has been uploaded yet.
    return [];
  }
}

function readRecord(file: string): Upload | undefined {
  try {
    return recordSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

function notAllowed(): SkillError {
  return new SkillError('untrusted', 'This tenant may not upload skills', {
    fix: 'Ask the operator to add "uploads" to the tenant.',
  });
}

function taken(name: string): SkillError {
  return new SkillError('manifest_invalid', `The id ${quote(name)} cannot be used for an upload`, {
    fix: 'Give the skill another name.',
    detail: { skill: name },
  });
}

function full(most: string): SkillError {
  return new SkillError('resource_exceeded', `The uploads of this tenant would exceed ${most}`, {
    fix: 'Remove an upload that is not needed with DELETE /v1/skills/{name}, or ask the operator to raise "uploads".',
    detail: { limit: 'uploads', most },
  });
}
