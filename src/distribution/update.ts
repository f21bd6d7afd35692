/**
 * Looks for newer versions of pinned skills, and for versions that somebody moved.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { SkillPin, SkillPins } from '../load/skills-lock.ts';
import { quote, shellWord } from '../manifest/quote.ts';
import { mapConcurrently } from '../tools/map-concurrently.ts';
import type { Delivery, OpenSource } from './contract.ts';
import type { TransferWatch } from './transfer-watch.ts';
import { isFixed } from './judge.ts';
import { newestAfter } from './semver.ts';
import { sourceOf, toPinned } from './to-pinned.ts';

/** What a source says about a pin now. */
export interface Staleness {
  id: string;
  pin: SkillPin;
  /** The newest version that is newer than the pinned one. */
  newer?: string | undefined;
  /** What the pinned tag names now, if that is not what was pinned. */
  movedTo?: string | undefined;
  /** Whether the tag promises to stay, so that its move is somebody's fault. */
  isBroken: boolean;
  /** Whether the source no longer has the pinned tag. */
  isGone: boolean;
}

/** A pin whose source could not say anything. */
export interface Unknown {
  id: string;
  pin: SkillPin;
  error: SkillError;
}

/** What the sources say; one that does not answer hides nothing of the others. */
export function outdated(pins: SkillPins, open: OpenSource): Promise<(Staleness | Unknown)[]> {
  return mapConcurrently([...pins], async ([id, pin]) => {
    try {
      return await staleness(id, pin, open);
    } catch (error) {
      if (error instanceof SkillError && error.code !== 'cancelled') return { id, pin, error };
      throw error;
    }
  });
}

export async function staleness(id: string, pin: SkillPin, open: OpenSource): Promise<Staleness> {
  const source = sourceOf(pin, open);
  const pinned = toPinned(pin);
  const [offered, current] = await Promise.all([source.versions(pinned), source.currentRevision(pinned)]);
  const newer = newestAfter(
    pin.tag ?? pin.version,
    (offered ?? []).map(({ version }) => version),
  );
  const movedTo = current !== undefined && current !== pin.revision ? current : undefined;
  return {
    ...{ id, pin, newer, movedTo },
    isBroken: movedTo !== undefined && isFixed(pin.tag ?? ''),
    isGone: current === undefined && pin.tag !== undefined,
  };
}

/** The delivery that `update` proposes; undefined if there is nothing newer. */
export async function fetchUpdate(
  { id, pin, newer, movedTo, isGone }: Staleness,
  open: OpenSource,
  watch?: TransferWatch,
): Promise<Delivery | undefined> {
  if (isGone && newer === undefined) throw gone(id, pin);
  if (newer === undefined && movedTo === undefined) return undefined;
  const source = open(pin.source);
  return source.fetch(source.reference({ source: pin.source, version: newer ?? pin.tag }), watch);
}

function gone(id: string, { source, tag = '' }: SkillPin): SkillError {
  return new SkillError(
    'skill_unavailable',
    `The source ${quote(source)} no longer has ${quote(tag)}, the version of "${id}" that is pinned`,
    {
      fix: 'The files that you have stay usable. Ask the publisher why it was removed.',
      detail: { skill: id, source, tag },
    },
  );
}

/** The named pins, or all. Throws `skill_unavailable` for a name without a pin. */
export function selectPins(pins: SkillPins, names: readonly string[]): [string, SkillPin][] {
  if (names.length === 0) return [...pins];
  return names.map((name) => [name, pinNamed(pins, name)]);
}

export function pinNamed(pins: SkillPins, name: string): SkillPin {
  const pin = pins.get(name);
  if (pin) return pin;
  const known = [...pins.keys()].slice(0, 10).join(', ');
  throw new SkillError('skill_unavailable', `The skill ${JSON.stringify(name)} is not in skills.lock.json`, {
    fix:
      known === '' ? 'Add one: skillcell add SOURCE' : `Name one of: ${known}. For your own, add --global.`,
    detail: { skill: name, command: `skillcell remove ${shellWord(name)}` },
  });
}
