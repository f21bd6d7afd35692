/**
 * Tokens that we make ourselves: in a file that only their owner can read, never on a stream that ends up in a log.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { SkillError } from '../index.ts';

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/** The token in the file; one is made when there is none yet, so that clients keep theirs. */
export function keptToken(file: string): string {
  try {
    return readOwn(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const token = randomBytes(32).toString('hex');
  writeSecret(file, token);
  return token;
}

/** Writes a file that did not exist, for its owner alone; an older one of ours is replaced. */
export function writeSecret(file: string, secret: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  rmSync(file, { force: true });
  writeFileSync(file, `${secret}\n`, { mode: OWNER_ONLY, flag: 'wx' });
}

function readOwn(file: string): string {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { mode } = fstatSync(fd);
    if ((mode & OTHERS) === 0) return readFileSync(fd, 'utf8').trim();
  } finally {
    closeSync(fd);
  }
  throw new SkillError('usage', `Others can read the token in "${file}"`, {
    fix: `Remove it and start again, which makes a new one: rm ${file}`,
  });
}
