/**
 * Stores approvals. An approval is bound to the digest of the bundle and to its capability set: if either changes, it must
 * be approved again. Each has its own file, so that two processes never write the same one.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Bundle } from '../load/bundle.ts';
import { approvedSet, diffCapabilities } from '../load/capability-set.ts';
import { publishSync } from '../load/publish.ts';

/** A stored approval: the skill and its capabilities, who approved them and when. */
export interface Approval {
  skill: string;
  digest: string;
  capabilities: string[];
  /** Who approved it, as far as the machine knows. */
  by: string;
  at: string;
}

/** The approval state of a skill as it is now. */
export type ApprovalState =
  | { kind: 'approved'; approval: Approval }
  | { kind: 'none' }
  /** A different bundle or capability set of this name was approved. */
  | { kind: 'changed'; approval: Approval; diff: string[] };

const schema: z.ZodType<Approval> = z.strictObject({
  skill: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  capabilities: z.array(z.string()),
  by: z.string(),
  at: z.iso.datetime(),
});

/** The approvals of this machine. */
export class Approvals {
  readonly #home: string;
  readonly #folder: string;
  /** Later approvals do not count. */
  readonly #until: string | undefined;

  constructor(home: string, until?: string) {
    this.#home = home;
    this.#folder = join(home, 'approvals');
    this.#until = until;
  }

  /** The same, without what is approved after this time. */
  asOf(time: string): Approvals {
    return new Approvals(this.#home, time);
  }

  has(bundle: Bundle): boolean {
    return this.stateOf(bundle).kind === 'approved';
  }

  /** Approved only if exactly this bundle with exactly these capabilities was approved. */
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
    const text = `${JSON.stringify(approval, null, 2)}\n`;
    publishSync(
      join(this.#folder, fileFor(digest, capabilities)),
      (draft) => writeFileSync(draft, text, { mode: 0o600, flag: 'wx' }),
      { hideIn: this.#folder },
    );
    return approval;
  }

  /**
   * Revokes every approval of this name, and every approval of this digest, which may have been given under another name.
   * Returns the number of revoked approvals.
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
      // Nothing has been approved yet.
      return [];
    }
  }

  /** An unreadable file approves nothing. */
  #read(file: string): Approval | undefined {
    try {
      const { data } = schema.safeParse(JSON.parse(readFileSync(join(this.#folder, file), 'utf8')));
      const isLate = data && this.#until !== undefined && Date.parse(data.at) > Date.parse(this.#until);
      return isLate ? undefined : data;
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
