/**
 * The launch spec of a Node process in a cell. The process itself holds no authority.
 *
 * @module
 */
import type { LaunchSpec, Mount } from '../../contract.ts';
import type { NodeBinary } from './node-binary.ts';

/** Address space for code range and pointer cages; the memory cgroup or the watchdog limits the memory in use. */
const V8_RESERVES_BYTES = 1024 ** 3;

export interface NodeSpecOptions {
  node: NodeBinary;
  /** Folder of the staged guest code. */
  code: string;
  /** Entry inside the guest code, e.g. `cell/main.js`. */
  entry: string;
  /** Read-only folders in addition to the code. */
  mounts: Mount[];
  /** Arguments of the entry. */
  args?: string[];
  flags?: string[];
  /** Environment of the process. Guests do not see it. */
  env?: Readonly<Record<string, string>>;
}

/** Paths are as seen inside a jail; a wall without mounts maps them back to host paths. */
export function nodeSpec({
  node,
  code,
  entry,
  mounts,
  args = [],
  flags = [],
  env = {},
}: NodeSpecOptions): LaunchSpec {
  const readable = ['/harness', ...mounts.map((mount) => mount.guest)];
  return {
    argv: [
      '/node/node',
      '--permission',
      ...readable.map((folder) => `--allow-fs-read=${folder}/*`),
      ...mounts.filter((mount) => mount.writable).map((mount) => `--allow-fs-write=${mount.guest}/*`),
      // node:sqlite opens files without the permission checks.
      '--no-experimental-sqlite',
      '--disallow-code-generation-from-strings',
      '--no-addons',
      // Otherwise, any process of the same user could start an inspector in it.
      '--disable-sigusr1',
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=SecurityWarning',
      ...flags,
      `/harness/${entry}`,
      ...args,
    ],
    mounts: [{ host: node.path, guest: '/node/node' }, { host: code, guest: '/harness' }, ...mounts],
    env: { ...env },
    cwd: '/',
    reservedBytes: V8_RESERVES_BYTES,
  };
}
