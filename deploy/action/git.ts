/**
 * The two versions of a repository that are compared: the working tree, and a base commit.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { basename, dirname } from 'node:path/posix';

const MAX_BYTES = 256 * 1024 * 1024;
const MANIFESTS = new Set(['manifest.yaml', 'SKILL.md']);

/** The id of a commit. Throws if the repository does not have it, as in a shallow clone. */
export function commitOf(repository: string, ref: string): string {
  try {
    return git(repository, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`])
      .toString()
      .trim();
  } catch {
    throw new Error(
      `The base ${JSON.stringify(ref)} is not in this clone. Check out with \`fetch-depth: 0\`, or fetch it first.`,
    );
  }
}

/** Folders of skills that git tracks below a path, in the working tree or in a commit. */
export function skillFolders(repository: string, path: string, commit?: string): string[] {
  const list =
    commit === undefined
      ? ['ls-files', '-z', '--', path]
      : ['ls-tree', '-r', '-z', '--full-tree', '--name-only', commit, '--', path];
  const files = git(repository, list).toString().split('\0');
  const folders = new Set(files.filter((file) => MANIFESTS.has(basename(file))).map(dirname));
  // What lies in the folder of a skill belongs to that skill.
  return [...folders].filter((folder) => !hasParentIn(folder, folders)).sort();
}

function hasParentIn(folder: string, folders: ReadonlySet<string>): boolean {
  for (let parent = dirname(folder); parent !== '.' && parent !== '/'; parent = dirname(parent))
    if (folders.has(parent)) return true;
  return false;
}

/** Whether a folder of the working tree differs from that of a commit. */
export function isChanged(repository: string, commit: string, folder: string): boolean {
  return git(repository, ['diff', '--name-only', '-z', commit, '--', folder]).length > 0;
}

/** Writes a folder of a commit below `target`. */
export function extract(
  repository: string,
  { commit, folder, target }: { commit: string; folder: string; target: string },
): void {
  const archive = git(repository, ['archive', '--format=tar', commit, '--', folder]);
  execFileSync('tar', ['-x', '-C', target], { input: archive, stdio: ['pipe', 'ignore', 'inherit'] });
}

function git(repository: string, args: readonly string[]): Buffer {
  const stdio: ['ignore', 'pipe', 'ignore'] = ['ignore', 'pipe', 'ignore'];
  return execFileSync('git', ['-C', repository, ...args], { maxBuffer: MAX_BYTES, stdio });
}
