/**
 * The registries of fetched skills: those that a project pins in `skills.lock.json`, and those of this person. A skill
 * that is pinned but not here is in no registry until it is fetched.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fetchedDir, fetchedFolder } from './fetched.ts';
import type { Registry } from './registries.ts';
import { readSkillsLock, SKILLS_LOCK, type SkillPins } from './skills-lock.ts';

/** Reads a `skills.lock.json`, perhaps from memory. */
export type ReadPins = (file: string) => SkillPins;

export interface PinPlaces {
  home: string;
  cwd: string;
  /** Absent: the file is read each time. */
  readPins?: ReadPins | undefined;
}

/** The pins of a project. */
export function projectPins(cwd: string): string {
  return join(cwd, SKILLS_LOCK);
}

/** The pins of this person, for every folder: what `--global` writes. */
export function ownPins(home: string): string {
  return join(home, 'global', SKILLS_LOCK);
}

/** The project first. */
export function pinnedRegistries({ home, cwd, readPins = readSkillsLock }: PinPlaces): Registry[] {
  return [projectPins(cwd), ownPins(home)].flatMap((file): Registry[] => {
    const pins = [...readPins(file)];
    if (pins.length === 0) return [];
    const pinned = new Map(pins.map(([id, pin]) => [id, fetchedFolder(home, id, pin)]));
    return [{ folder: fetchedDir(home), layout: 'pinned', pinned }];
  });
}

/** Keeps what a file says until the file changes, because the skills are listed often. */
export class KnownPins {
  readonly #known = new Map<string, { stamp: string; pins: SkillPins }>();

  readonly read: ReadPins = (file) => {
    const stamp = stampOf(file);
    const known = this.#known.get(file);
    if (known?.stamp === stamp) return known.pins;
    const pins = stamp === '' ? new Map() : readSkillsLock(file);
    this.#known.set(file, { stamp, pins });
    return pins;
  };
}

function stampOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch {
    // Whatever hides the file, reading it says what.
    return isMissing(file) ? '' : 'unknown';
  }
}

function isMissing(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}
