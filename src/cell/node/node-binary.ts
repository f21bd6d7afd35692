/**
 * The Node that cells run on: the bundled one, so that a cell never depends on what PATH says.
 *
 * @module
 */
import { chmodSync, copyFileSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { publish } from '../../load/publish.ts';
import { packageRoot } from '../../package-root.ts';

export interface NodeBinary {
  /** Path on the host, reachable for the user that cells run as. */
  path: string;
}

export function findNode(home: string, path: string = bundledNode() ?? process.execPath): NodeBinary {
  return { path: isReachable(path) ? path : copyInto(home, path) };
}

function bundledNode(): string | undefined {
  try {
    const require = createRequire(join(packageRoot(), 'package.json'));
    const folder = dirname(require.resolve(`node-linux-${process.arch}/package.json`));
    const path = join(folder, 'bin', 'node');
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** A root host drops its uid before it mounts anything; the binary may lie where only root can pass. */
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
  // Whatever the umask and the mode of the original are.
  for (const made of [dirname(folder), folder]) chmodSync(made, 0o755);
  publish(target, (draft) => {
    copyFileSync(path, draft, constants.COPYFILE_FICLONE);
    chmodSync(draft, 0o755);
  });
  return target;
}
