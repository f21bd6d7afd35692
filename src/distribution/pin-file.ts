/**
 * Changes `skills.lock.json`. Two processes that add skills at the same time take turns, and each reads the file again when
 * it has its turn, so neither loses what the other wrote.
 *
 * @module
 */
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkillError } from '../errors.ts';
import { sha256 } from '../load/digest.ts';
import { FileLock } from '../load/file-lock.ts';
import { ownPins, projectPins } from '../load/pinned-skills.ts';
import { publishSync } from '../load/publish.ts';
import { realOrGiven } from '../load/registries.ts';
import {
  formatSkillsLock,
  parseSkillsLock,
  readSkillsLock,
  type SkillPin,
  type SkillPins,
} from '../load/skills-lock.ts';

/** Where pins are written: in a project, or for this person in every folder. */
export interface PinPlace {
  home: string;
  cwd: string;
  global?: boolean | undefined;
}

const WAIT_MS = 20;
/** A turn takes milliseconds; whoever waits this long waits for a stopped process. */
const MAX_WAITS = 1500;

function pinFile({ home, cwd, global = false }: PinPlace): string {
  return global ? ownPins(home) : projectPins(cwd);
}

export function pinsOf(place: PinPlace): Map<string, SkillPin> {
  return readSkillsLock(pinFile(place));
}

/** Writes what `change` makes of the pins as they are now. An unchanged file is not written. */
export async function changePins(
  place: PinPlace,
  change: (pins: Map<string, SkillPin>) => void,
): Promise<void> {
  const file = pinFile(place);
  using _ = await takeTurn(place.home, file);
  const pins = readSkillsLock(file);
  const before = formatSkillsLock(pins);
  change(pins);
  const text = formatSkillsLock(pins);
  if (text === before && existsSync(file)) return;
  // A source may offer texts that a lock must not have, such as invisible ones.
  parseSkillsLock(text, file);
  write(file, text);
}

function write(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    publishSync(file, (draft) => writeFileSync(draft, text, { mode: 0o644, flag: 'wx' }));
  } catch (cause) {
    throw new SkillError('usage', `Cannot write ${JSON.stringify(file)}`, {
      fix: 'Run the command in a folder that you can write to, or add the skill for yourself with --global.',
      detail: { file },
      cause,
    });
  }
}

/** Fails if the pin is no longer what the person was shown. */
export function assertUnchanged(pins: SkillPins, id: string, before: SkillPin | undefined): void {
  if (formatOne(pins.get(id)) === formatOne(before)) return;
  throw new SkillError('usage', `Another process changed the pin of "${id}" meanwhile`, {
    fix: 'Run the command again.',
    detail: { skill: id },
  });
}

function formatOne(pin: SkillPin | undefined): string {
  return pin ? formatSkillsLock(new Map([['one', pin]])) : '';
}

/** The lock is in the home, because a project in version control should get no further files. */
async function takeTurn(home: string, file: string): Promise<FileLock> {
  const folder = join(home, 'locks');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const real = join(realOrGiven(dirname(file)), 'skills.lock.json');
  const lockFile = join(folder, `${sha256(real)}.lock`);
  for (let waits = 0; waits < MAX_WAITS; waits++) {
    if (!existsSync(lockFile)) closeSync(openSync(lockFile, 'a', 0o600));
    const lock = FileLock.claim(lockFile);
    if (lock) return lock;
    await sleep(WAIT_MS);
  }
  throw new SkillError('skill_unavailable', `Another process keeps changing ${JSON.stringify(file)}`, {
    fix: 'Wait until it has finished, or end it.',
  });
}
