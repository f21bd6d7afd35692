/**
 * Opens a file for a guest. The file is inspected through a handle first, because merely opening a pipe or a device can
 * have an effect.
 *
 * @module
 */
import { closeSync, constants, fstatSync, openSync, type BigIntStats } from 'node:fs';
import { BrokerRefusal, type BrokerReply } from '../cell/contract.ts';
import { typeOf } from './file-facts.ts';
import { O_PATH, type FileTable, type Place } from './file-table.ts';

const NEW_FILE_MODE = 0o644;
/** Another process may create and remove the file at the same time; a few attempts are enough for honest ones. */
const MAX_ATTEMPTS = 8;
const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants;

interface WantedFlags {
  create: boolean;
  exclusive: boolean;
  truncate: boolean;
  directory: boolean;
  /** Whether the file or its content may be changed. */
  changes: boolean;
  access: number;
}

export function openPlace(table: FileTable, args: Record<string, unknown>): BrokerReply {
  const wanted = readFlags(args['flags']);
  return table.at(args['dir'], args['path'], (place) => {
    if (wanted.changes) table.assertWritable(place);
    const fd = openExisting(place, wanted) ?? openNew(place, wanted);
    const stat = fstatSync(fd, { bigint: true });
    const file = table.add({ fd, root: place.root, guestPath: place.guestPath, writable: wanted.changes });
    return { value: { file, type: typeOf(stat), size: Number(stat.size) } };
  });
}

function readFlags(given: unknown): WantedFlags {
  const flags = typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {};
  const on = (name: string): boolean => flags[name] === true;
  const [create, truncate, directory] = [on('create'), on('truncate'), on('directory')];
  if (directory && create) throw new BrokerRefusal('inval', 'opening does not create directories');
  const writeOnly = flags['read'] === false ? O_WRONLY : O_RDWR;
  return {
    create,
    exclusive: on('exclusive'),
    truncate,
    directory,
    changes: on('write') || create || truncate,
    access: on('write') ? writeOnly : O_RDONLY,
  };
}

/** Undefined if the file does not exist and may be created. */
function openExisting(place: Place, wanted: WantedFlags): number | undefined {
  const handle = handleOf(place, wanted);
  if (handle === undefined) return undefined;
  try {
    if (wanted.create && wanted.exclusive) throw new BrokerRefusal('exist', 'it exists');
    assertOpenable(fstatSync(handle, { bigint: true }), wanted);
    const truncate = wanted.truncate ? O_TRUNC : 0;
    // Through /proc, this opens exactly the file that was inspected.
    return openSync(`/proc/self/fd/${handle}`, wanted.access | truncate | O_NONBLOCK);
  } finally {
    closeSync(handle);
  }
}

function handleOf({ path, isDirectoryItself }: Place, { create }: WantedFlags): number | undefined {
  try {
    return openSync(path, O_PATH | (isDirectoryItself ? 0 : O_NOFOLLOW));
  } catch (error) {
    if (create && (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function assertOpenable(stat: BigIntStats, { directory, changes }: WantedFlags): void {
  // Never followed, whatever the guest asks: a link is refused, not judged.
  if (stat.isSymbolicLink()) throw new BrokerRefusal('loop', 'links are not followed');
  if (!stat.isFile() && !stat.isDirectory())
    throw new BrokerRefusal('perm', 'only files and directories are opened');
  if (directory && !stat.isDirectory()) throw new BrokerRefusal('notdir', 'not a directory');
  if (changes && stat.isDirectory()) throw new BrokerRefusal('isdir', 'a directory');
}

function openNew(place: Place, wanted: WantedFlags): number {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    try {
      return openSync(place.path, wanted.access | O_CREAT | O_EXCL | O_NOFOLLOW, NEW_FILE_MODE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || wanted.exclusive) throw error;
    }
    const existing = openExisting(place, wanted);
    if (existing !== undefined) return existing;
  }
  throw new BrokerRefusal('busy', 'the file is created and removed repeatedly');
}
