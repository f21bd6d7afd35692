/**
 * The system's CPython. PATH is ignored, because it may lead to a version manager's shell script.
 *
 * @module
 */
import { closeSync, openSync, readSync, realpathSync } from 'node:fs';
import type { Mount } from '../../contract.ts';

const PLACES = ['/usr/bin/python3', '/usr/local/bin/python3'];
const ELF_MAGIC = '7f454c46';

export interface Interpreter {
  /** Real path of the binary; the same inside and outside the cell. */
  path: string;
  /** Such as `3.11`. */
  version: string;
  /** Mounts that it needs in addition to /usr, which every jail has. */
  mounts: Mount[];
}

export function findInterpreter(places: string[] = PLACES): Interpreter | undefined {
  for (const place of places) {
    const found = readInterpreter(place);
    if (found) return found;
  }
  return undefined;
}

function readInterpreter(place: string): Interpreter | undefined {
  try {
    const path = realpathSync(place);
    const version = /\/python(3\.\d+)$/.exec(path)?.[1];
    if (version === undefined || !path.startsWith('/usr/') || !isElf(path)) return undefined;
    const mounts = path.startsWith('/usr/local/') ? [{ host: '/usr/local', guest: '/usr/local' }] : [];
    return { path, version, mounts };
  } catch {
    return undefined;
  }
}

function isElf(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const magic = Buffer.alloc(4);
    readSync(file, magic, 0, 4, 0);
    return magic.toString('hex') === ELF_MAGIC;
  } finally {
    closeSync(file);
  }
}
