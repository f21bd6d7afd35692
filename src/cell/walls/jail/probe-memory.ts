/**
 * Remembers between processes that a jail opened on this machine, for commands that make one call. Only success is
 * remembered, so a wrong entry cannot lead to a weaker wall: the jail is then chosen, does not open, and the call is refused.
 * Cells cannot see the file.
 *
 * @module
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { release, version as kernelBuild } from 'node:os';
import { dirname, join } from 'node:path';
import { publishSync } from '../../../load/publish.ts';
import { packageVersion } from '../../../package-root.ts';

const MAX_AGE_MS = 24 * 60 * 60 * 1000;
const MAX_BYTES = 64 * 1024;
/** Which processes a kernel lets open namespaces depends on these. */
const SETTINGS = [
  '/proc/sys/kernel/random/boot_id',
  '/proc/sys/user/max_user_namespaces',
  '/proc/sys/kernel/unprivileged_userns_clone',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
  '/proc/self/attr/current',
  '/proc/self/uid_map',
  '/proc/self/gid_map',
];
const RIGHTS =
  /^(?:Uid|Gid|Groups|CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp|Seccomp_filters):.*$/gm;
const NAMESPACES = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts'];

export interface ProbeMemoryOptions {
  home: string;
  /** Programs that open a jail. */
  programs: readonly string[];
  /** uid of cells of a root host. */
  cellId: number;
}

export class ProbeMemory {
  readonly #options: ProbeMemoryOptions;
  readonly #file: string;

  constructor(options: ProbeMemoryOptions) {
    this.#options = options;
    this.#file = join(options.home, 'probes', 'jail.json');
  }

  /** The version text of the probe that succeeded under the same circumstances; undefined if the jail has to be tried. */
  recall(now: number = Date.now()): string | undefined {
    try {
      const { circumstances, version, at } = readOwn(this.#file);
      const isFresh = typeof at === 'number' && at <= now && now - at < MAX_AGE_MS;
      const isSame = circumstances === circumstancesOf(this.#options);
      return isFresh && isSame && typeof version === 'string' ? version : undefined;
    } catch {
      return undefined;
    }
  }

  /** After a jail opened. Failing to write only makes the next command slower. */
  keep(version: string, now: number = Date.now()): void {
    try {
      const folder = dirname(this.#file);
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return;
    }
    try {
      assertPrivate(lstatSync(dirname(this.#file)), 'folder');
      const entry: Entry = { circumstances: circumstancesOf(this.#options), version, at: now };
      publishSync(this.#file, (draft) => writeFileSync(draft, JSON.stringify(entry), { mode: 0o600 }));
    } catch {
      return;
    }
  }

  /** After a jail did not open. */
  forget(): void {
    try {
      rmSync(this.#file, { force: true });
    } catch {
      // In a folder that is not ours, nothing is believed either.
    }
  }
}

interface Entry {
  circumstances: string;
  version: string;
  /** When the jail was tried. */
  at: number;
}

/** Reads a file that only this user can have written. */
function readOwn(file: string): Record<keyof Entry, unknown> {
  assertPrivate(lstatSync(dirname(file)), 'folder');
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const found = fstatSync(fd);
    assertPrivate(found, 'file');
    if (found.size > MAX_BYTES) throw new Error('Too large');
    return JSON.parse(readFileSync(fd, 'utf8')) as Record<keyof Entry, unknown>;
  } finally {
    closeSync(fd);
  }
}

function assertPrivate(found: ReturnType<typeof fstatSync>, kind: 'file' | 'folder'): void {
  const isKind = kind === 'file' ? found.isFile() : found.isDirectory();
  if (isKind && Number(found.uid) === process.getuid?.() && (Number(found.mode) & 0o077) === 0) return;
  throw new Error('Not private');
}

/** Everything that decides whether a jail opens, as text. */
function circumstancesOf({ programs, cellId }: ProbeMemoryOptions): string {
  return JSON.stringify({
    skillcell: packageVersion(),
    node: process.version,
    kernel: [release(), kernelBuild()],
    cellId,
    settings: SETTINGS.map(textOf),
    rights: textOf('/proc/self/status')?.match(RIGHTS) ?? [],
    namespaces: NAMESPACES.map((name) => linkOf(`/proc/self/ns/${name}`)),
    programs: programs.map(identityOf),
  });
}

function identityOf(program: string): readonly string[] {
  const { dev, ino, mode, uid, size, mtimeNs, ctimeNs } = statSync(program, { bigint: true });
  return [program, ...[dev, ino, mode, uid, size, mtimeNs, ctimeNs].map(String)];
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function linkOf(file: string): string | undefined {
  try {
    return readlinkSync(file);
  } catch {
    return undefined;
  }
}
