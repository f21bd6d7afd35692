/**
 * Compares what arrived with what was pinned before: another signer, an older version, or other bytes under the same
 * version are refused, each with its own sentence. A person can allow one of them by name.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { diffCapabilities } from '../load/capability-set.ts';
import { fetchedKey } from '../load/fetched.ts';
import type { Signer, SkillPin } from '../load/skills-lock.ts';
import { quote, shellWord } from '../manifest/quote.ts';
import { describeSigner, isSameSigner } from '../trust/signer.ts';
import { isOlder, parseVersion } from './semver.ts';

/** What a person allows for one skill by name. */
export interface Allowances {
  downgrade?: boolean;
  signer?: boolean;
  moved?: boolean;
}

/** What was known before a delivery. */
export interface Known {
  /** The pin that it would replace. */
  before: SkillPin | undefined;
  /** Who signed this source when it was first used on this machine. */
  signer: Signer | undefined;
  /** What a person allows for this skill. */
  allow?: Allowances | undefined;
}

/** What is new about a delivery. */
export interface Change {
  /** Neither bytes nor place have changed. */
  isSame: boolean;
  /** Lines that start with `+` or `-`. */
  capabilities: string[];
  wantsMore: boolean;
  /** The signer before, if it is another one now. */
  signerBefore?: Signer;
}

/** Throws unless the delivery may take the place of what was pinned. */
export function judgeChange(id: string, next: SkillPin, known: Known): Change {
  const { before, allow = {} } = known;
  if (before) {
    assertSameSource(id, next, before);
    if (!allow.moved) assertNotMoved(id, next, before);
    if (!allow.downgrade) assertNotOlder(id, next, before);
  }
  const signerBefore = otherSignerBefore(next, known);
  if (signerBefore !== undefined && !allow.signer && !isFirstSignature(signerBefore))
    throw otherSigner(id, next, signerBefore);
  const capabilities = before ? diffCapabilities(before.capabilities, next.capabilities) : [];
  return {
    isSame: before !== undefined && fetchedKey(before) === fetchedKey(next) && isSamePlace(before, next),
    capabilities,
    wantsMore: !before || capabilities.some((line) => line.startsWith('+')),
    ...(signerBefore === undefined ? {} : { signerBefore }),
  };
}

/** A pin without a signer must not hide the one whom this machine knows: a clone may have changed the pin. */
function otherSignerBefore({ signer }: SkillPin, { before, signer: first }: Known): Signer | undefined {
  const others = [before?.signer, first].filter((one) => one !== undefined && !isSameSigner(one, signer));
  return others.find((one) => one !== 'unsigned') ?? others[0];
}

/** A skill that was unsigned may become signed: nothing is taken from anybody, and a person is asked anyway. */
function isFirstSignature(before: Signer): boolean {
  return before === 'unsigned';
}

function isSamePlace(one: SkillPin, other: SkillPin): boolean {
  return one.revision === other.revision && one.tag === other.tag && one.source === other.source;
}

function assertSameSource(id: string, next: SkillPin, before: SkillPin): void {
  if (next.source === before.source) return;
  throw new SkillError(
    'untrusted',
    `"${id}" is pinned from ${quote(before.source)}, and this one comes from ${quote(next.source)}`,
    {
      fix: `To use the other source from now on, run: skillcell remove ${shellWord(id)}, then add it again.`,
      detail: { skill: id, pinned: before.source, source: next.source },
    },
  );
}

/** Only versions are promises: branches and tags such as "latest" are made to move. */
function assertNotMoved(id: string, next: SkillPin, before: SkillPin): void {
  const { tag } = before;
  if (tag === undefined || next.tag !== tag || !isFixed(tag) || next.revision === before.revision) return;
  throw new SkillError(
    'manifest_drift',
    `Somebody moved version ${quote(tag)} of "${id}": it was ${quote(before.revision)}, now it is ${quote(next.revision)}`,
    {
      fix: `Ask the publisher why, and use a new version. If the move is fine, run: skillcell update ${shellWord(id)} --allow-moved ${shellWord(id)}`,
      detail: { skill: id, tag, pinned: before.revision, revision: next.revision },
    },
  );
}

/** Versions and digests mean the same bytes for ever. */
export function isFixed(tag: string): boolean {
  return parseVersion(tag) !== undefined || /^(?:sha256:)?[0-9a-f]{40,64}$/.test(tag);
}

function assertNotOlder(id: string, next: SkillPin, before: SkillPin): void {
  const isBack = isOlder(next.version, before.version) || isOlder(next.tag, before.tag);
  if (!isBack) return;
  const [from, to] = isOlder(next.version, before.version)
    ? [before.version, next.version]
    : [before.tag, next.tag];
  throw new SkillError(
    'untrusted',
    `${quote(to ?? '')} of "${id}" is older than ${quote(from ?? '')}, which is pinned: a version with a known hole could come back this way`,
    {
      fix: `If you want the older one, run the command again with: --allow-downgrade ${shellWord(id)}`,
      detail: { skill: id, pinned: from, offered: to },
    },
  );
}

function otherSigner(id: string, { signer, source }: SkillPin, before: Signer): SkillError {
  const [was, now] = [describeSigner(before), describeSigner(signer)];
  const message =
    signer === 'unsigned'
      ? `"${id}" was signed by ${was} when it was first used here, and now nobody signs it`
      : `Another signer signs "${id}" now: it was ${was} when it was first used here, now it is ${now}`;
  return new SkillError('signature_invalid', message, {
    fix: `Ask the publisher on another way. If the change is theirs, review it on a terminal: skillcell update ${shellWord(id)} --new-signer ${shellWord(id)}`,
    detail: { skill: id, source, pinned: was, signer: now },
  });
}
