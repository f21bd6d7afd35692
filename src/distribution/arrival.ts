/**
 * What arrived: the files of a delivery in a private folder, read by the rules of every bundle, with who signed them. The
 * one use of its code is the inspection that every load makes, in a cell.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import { readDescription } from '../load/bundle-texts.ts';
import { capabilitySet } from '../load/capability-set.ts';
import { sha256 } from '../load/digest.ts';
import { digestsOf, fetchedKey } from '../load/fetched.ts';
import { BUNDLE_LIMITS, LOCK_FILE, SIGNATURE_FILE } from '../load/read-bundle.ts';
import type { SkillPin } from '../load/skills-lock.ts';
import { quote } from '../manifest/quote.ts';
import type { Runtime } from '../runtime.ts';
import { findSigner, type FoundSigner } from '../trust/signer.ts';
import type { Delivery } from './contract.ts';
import { Draft } from './draft.ts';

/** A delivered skill that was read and inspected, and that nobody has accepted yet. */
export class Arrival implements Disposable {
  readonly delivery: Delivery;
  readonly bundle: Bundle;
  readonly signed: FoundSigner;
  /** What `skills.lock.json` would say about it. */
  readonly pin: SkillPin;
  readonly #draft: Draft;

  constructor(facts: { delivery: Delivery; bundle: Bundle; signed: FoundSigner; draft: Draft }) {
    this.delivery = facts.delivery;
    this.bundle = facts.bundle;
    this.signed = facts.signed;
    this.#draft = facts.draft;
    this.pin = pinOf(facts.delivery, facts.bundle, facts.signed);
  }

  /** Its name, by which it will be called. */
  get id(): string {
    return this.bundle.manifest.name;
  }

  /** Moves its bytes into the store of fetched skills. */
  keep(): string {
    const { files } = this.delivery;
    const own = new Set([...Object.keys(this.bundle.files), LOCK_FILE, SIGNATURE_FILE]);
    this.#draft.keepOnly(own, files.keys());
    return this.#draft.keep(fetchedKey(this.pin));
  }

  [Symbol.dispose](): void {
    this.#draft[Symbol.dispose]();
  }
}

/** `before` is the pin that it may replace. */
export async function receive(
  delivery: Delivery,
  runtime: Runtime,
  before: (id: string) => SkillPin | undefined,
): Promise<Arrival> {
  assertSize(delivery);
  const draft = Draft.write(runtime.home, nameIn(delivery), delivery.files);
  try {
    const bundle = await runtime.sources.examine(draft.folder, delivery.files);
    assertClaim(delivery, bundle);
    const { publishers } = runtime.sources;
    assertSignatureCounts(delivery, bundle);
    const signed = await findSigner(bundle, { publishers, pinned: before(bundle.manifest.name)?.signer });
    return new Arrival({ delivery, bundle, signed, draft });
  } catch (error) {
    draft[Symbol.dispose]();
    throw error;
  }
}

/** The name that the skill claims; it must be known before there is a folder, because Agent Skills are named by theirs. */
function nameIn({ files, pinned }: Pick<Delivery, 'files' | 'pinned'>): string {
  const last = pinned.source.split(/[/:#]/).findLast((part) => part !== '') ?? 'skill';
  return readDescription(files, `/${last}`).manifest.name;
}

function pinOf({ pinned, files }: Delivery, bundle: Bundle, { signer }: FoundSigner): SkillPin {
  const { source, version: tag, revision } = pinned;
  const [lock, signature] = [files.get(LOCK_FILE), files.get(SIGNATURE_FILE)];
  return {
    source,
    version: bundle.manifest.version,
    ...(tag === undefined ? {} : { tag }),
    revision,
    ...digestsOf({ digest: bundle.digest, ...(lock ? { lock } : {}), ...(signature ? { signature } : {}) }),
    signer,
    capabilities: capabilitySet(bundle.manifest),
  };
}

function assertSize({ files }: Delivery): void {
  const total = [...files.values()].reduce((sum, bytes) => sum + bytes.length, 0);
  // With room for the lock and its signatures, and for what the rules of a bundle leave out.
  if (files.size <= BUNDLE_LIMITS.entries && total <= 2 * BUNDLE_LIMITS.totalBytes) return;
  throw new SkillError(
    'manifest_invalid',
    `The delivery has ${files.size} files and ${total} bytes, too many for a skill`,
    {
      fix: 'Name the folder of one skill in the source.',
      detail: { files: files.size, bytes: total, limits: BUNDLE_LIMITS },
    },
  );
}

function assertClaim({ claimedDigest, pinned }: Delivery, { digest, manifest }: Bundle): void {
  if (claimedDigest === undefined || claimedDigest === digest) return;
  throw new SkillError(
    'manifest_drift',
    `The files of "${manifest.name}" are not the ones that were published: ${quote(pinned.source)} says ${quote(claimedDigest)}, but they are ${digest}`,
    {
      fix: 'Do not use this copy. Fetch it from another registry, and tell the publisher.',
      detail: { skill: manifest.name, claimed: claimedDigest, digest },
    },
  );
}

/** A signature that no lock belongs to would look like a signed skill and prove nothing. */
function assertSignatureCounts({ files }: Delivery, { vouched, manifest }: Bundle): void {
  const signature = files.get(SIGNATURE_FILE);
  if (!signature || vouched) return;
  throw new SkillError(
    'signature_invalid',
    `The skill "${manifest.name}" has signatures, but no skill.lock that they are for`,
    {
      fix: 'Have the publisher lock and sign it again: skillcell lock, then skillcell sign.',
      detail: { skill: manifest.name, signature: `sha256:${sha256(signature)}` },
    },
  );
}
