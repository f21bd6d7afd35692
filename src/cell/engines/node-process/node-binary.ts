/**
 * The Node binary that cells run on: the one beside this package, or else the one that runs this. Never one from PATH.
 *
 * @module
 */
import { chmodSync, copyFileSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { publishSync } from '../../../load/publish.ts';
import { packageRoot } from '../../../package-root.ts';

export interface NodeBinary {
  /** Path on the host that the user of the cells can reach. */
  path: string;
}

export function findNode(home: string, path: string = nodeBesideUs() ?? process.execPath): NodeBinary {
  return { path: isReachable(path) ? path : copyInto(home, path) };
}

function nodeBesideUs(): string | undefined {
  try {
    const require = createRequire(join(packageRoot(), 'package.json'));
    const folder = dirname(require.resolve(`node-linux-${process.arch}/package.json`));
    const path = join(folder, 'bin', 'node');
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** A root host drops its uid before it mounts anything, and the binary may be in a folder that only root can enter. */
function isReachable(path: string): boolean {
  if (process.getuid?.() !== 0) return true;
  for (let folder = dirname(path); folder !== '/'; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false;
  }
  return (statSync(path).mode & 0o005) === 0o005;
}

function copyInto(home: string, path: string): string {
  const { size, mtimeMs } = statSync(path);
  const folder = join(home, 'node', `${process.version}-${size}-${Math.round(mtimeMs)}`);
  const target = join(folder, 'node');
  if (existsSync(target)) return target;
  mkdirSync(folder, { recursive: true });
  // Set explicitly, regardless of the umask and the mode of the original.
  for (const created of [dirname(folder), folder]) chmodSync(created, 0o755);
  publishSync(target, (draft) => {
    copyFileSync(path, draft, constants.COPYFILE_FICLONE);
    chmodSync(draft, 0o755);
  });
  return target;
}
