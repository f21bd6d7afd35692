/**
 * Tokens that we generate: stored in a file that only its owner can read, never printed where they end up in a log.
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
import { SkillError } from '../inside.ts';

const OWNER_ONLY = 0o600;
const OTHERS = 0o077;

/** Reads the token, or creates it if the file does not exist. It is kept, so that clients can be configured once. */
export function readOrCreateToken(file: string): string {
  try {
    return readOwn(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const token = randomBytes(32).toString('hex');
  writeSecret(file, token);
  return token;
}

/** Writes a new file that only its owner can read, replacing an older one. */
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
  throw new SkillError('usage', `The token file "${file}" is readable by other users`, {
    fix: `Remove it and start again, which creates a new one: rm ${file}`,
  });
}
