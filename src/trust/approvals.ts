/**
 * What a person approved. An approval is bound to the digest of the bundle and to its capability set: whatever
 * changes of either has to be looked at again. One file each, so that two processes never write the same one.
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Bundle } from '../load/bundle.ts';
import { approvedSet, diffCapabilities } from '../load/capability-set.ts';

export interface Approval {
  skill: string;
  digest: string;
  capabilities: string[];
  /** Who said so, as far as the machine knows. */
  by: string;
  at: string;
}

export type ApprovalState =
  | { kind: 'approved'; approval: Approval }
  | { kind: 'none' }
  /** Something else of this name was approved. */
  | { kind: 'changed'; approval: Approval; diff: string[] };

const schema: z.ZodType<Approval> = z.strictObject({
  skill: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  capabilities: z.array(z.string()),
  by: z.string(),
  at: z.iso.datetime(),
});

export class Approvals {
  readonly #folder: string;

  constructor(home: string) {
    this.#folder = join(home, 'approvals');
  }

  has(bundle: Bundle): boolean {
    return this.stateOf(bundle).kind === 'approved';
  }

  /** Whether exactly this bundle, with exactly these capabilities, was approved. */
  stateOf(bundle: Bundle): ApprovalState {
    const capabilities = approvedSet(bundle);
    const approval = this.#read(fileFor(bundle.digest, capabilities));
    if (approval?.digest === bundle.digest && isEqual(approval.capabilities, capabilities))
      return { kind: 'approved', approval };
    const last = this.ofSkill(bundle.manifest.name).at(-1);
    if (!last) return { kind: 'none' };
    return { kind: 'changed', approval: last, diff: diffCapabilities(last.capabilities, capabilities) };
  }

  add(bundle: Bundle, by: string): Approval {
    const { manifest, digest } = bundle;
    const capabilities = approvedSet(bundle);
    const at = new Date().toISOString();
    const approval: Approval = { skill: manifest.name, digest, capabilities, by, at };
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const draft = join(this.#folder, `.new-${randomBytes(6).toString('hex')}`);
    writeFileSync(draft, `${JSON.stringify(approval, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(draft, join(this.#folder, fileFor(digest, capabilities)));
    return approval;
  }

  /**
   * Takes back every approval of this name, and those of these very files: under another name they were approved as well.
   * Returns how many there were.
   */
  remove(skill: string, digest?: string): number {
    const found = this.list().filter((one) => one.skill === skill || one.digest === digest);
    for (const { digest, capabilities } of found)
      rmSync(join(this.#folder, fileFor(digest, capabilities)), { force: true });
    return found.length;
  }

  /** Every approval of this name, oldest first. */
  ofSkill(skill: string): Approval[] {
    return this.list().filter((approval) => approval.skill === skill);
  }

  list(): Approval[] {
    const found = this.#files().flatMap((file) => this.#read(file) ?? []);
    return found.sort((a, b) => (a.at < b.at ? -1 : 1));
  }

  #files(): string[] {
    try {
      return readdirSync(this.#folder).filter((file) => file.endsWith('.json'));
    } catch {
      // Nobody has approved anything yet.
      return [];
    }
  }

  /** What cannot be read as an approval approves nothing. */
  #read(file: string): Approval | undefined {
    try {
      return schema.safeParse(JSON.parse(readFileSync(join(this.#folder, file), 'utf8'))).data;
    } catch {
      return undefined;
    }
  }
}

function fileFor(digest: string, capabilities: readonly string[]): string {
  return `${createHash('sha256')
    .update(JSON.stringify([digest, capabilities]))
    .digest('hex')}.json`;
}

function isEqual(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((line, at) => line === right[at]);
}
