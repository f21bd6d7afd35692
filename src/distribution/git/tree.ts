/**
 * Reads the files of one commit, or of a folder in it, from a repository in a jail.
 *
 * @module
 */
import { BUNDLE_LIMITS } from '../../load/read-bundle.ts';
import { FileSet } from '../archives/file-set.ts';
import type { JailedGit } from './jailed-git.ts';

const MAX_COMMIT_BYTES = 1024 ** 2;
const MAX_TREE_BYTES = 8 * 1024 ** 2;

export interface TreeEntry {
  mode: string;
  name: Buffer;
  oid: string;
}

const REFUSED_MODES: Readonly<Record<string, string>> = {
  '120000': 'it is a symbolic link',
  '160000': 'it is a submodule',
};
const FOLDER = '40000';
const FILES = new Set(['100644', '100755', '100664']);

export interface TreeOptions {
  what: string;
  commit: string;
  /** The folder that is read; empty for everything. */
  path: string;
}

export async function readTree(git: JailedGit, options: TreeOptions): Promise<ReadonlyMap<string, Buffer>> {
  const set = new FileSet(options.what);
  const walk = new TreeWalk(git, set, options.commit.length / 2);
  let oid = await walk.rootOf(options.commit);
  for (const segment of options.path === '' ? [] : options.path.split('/')) {
    const entry = (await walk.entries(oid)).find(({ name }) => name.toString('utf8') === segment);
    if (entry?.mode !== FOLDER) throw set.refusal('it has no such folder', options.path);
    oid = entry.oid;
  }
  await walk.readFolder(oid, '', 0);
  return set.finish();
}

class TreeWalk {
  readonly #git: JailedGit;
  readonly #set: FileSet;
  readonly #oidBytes: number;

  constructor(git: JailedGit, set: FileSet, oidBytes: number) {
    this.#git = git;
    this.#set = set;
    this.#oidBytes = oidBytes;
  }

  async rootOf(commit: string): Promise<string> {
    const bytes = await this.#read(commit, 'commit', MAX_COMMIT_BYTES);
    const root = /^tree ([\da-f]+)\n/.exec(bytes.toString('latin1', 0, 200))?.[1];
    if (root === undefined) throw this.#set.refusal('its commit has no files');
    return root;
  }

  async readFolder(oid: string, prefix: string, depth: number): Promise<void> {
    // Also ends a folder that contains itself.
    if (depth > BUNDLE_LIMITS.depth)
      throw this.#set.refusal(`it is nested deeper than ${BUNDLE_LIMITS.depth} folders`, prefix);
    for (const { mode, name, oid: child } of await this.entries(oid)) {
      this.#set.countEntry();
      const path = Buffer.concat([Buffer.from(prefix), name]);
      if (mode === FOLDER) {
        this.#set.addFolder(path);
        await this.readFolder(child, `${path.toString('utf8')}/`, depth + 1);
      } else if (FILES.has(mode)) await this.#readFile(path, child);
      else this.#set.refuseEntry(path, REFUSED_MODES[mode] ?? 'it is neither a file nor a folder');
    }
  }

  async entries(oid: string): Promise<TreeEntry[]> {
    const entries = parseTree(await this.#read(oid, 'tree', MAX_TREE_BYTES), this.#oidBytes);
    if (!entries) throw this.#set.refusal('it has a malformed folder');
    return entries;
  }

  async #readFile(name: Buffer, oid: string): Promise<void> {
    const path = name.toString('utf8');
    const most = this.#set.limits.bytes;
    const found = await this.#git.read(oid, most);
    if (found?.type !== 'blob') throw this.#set.refusal('its bytes were not sent', path);
    const claimed = this.#set.claim(name, found.size);
    if (claimed === undefined || found.bytes === undefined)
      throw this.#set.refusal(`its files have more than ${most} bytes`, path);
    this.#set.put(claimed, found.bytes);
  }

  async #read(oid: string, type: string, most: number): Promise<Buffer> {
    const found = await this.#git.read(oid, most);
    if (!found) throw this.#set.refusal(`the server did not send its ${type} ${oid.slice(0, 12)}`);
    if (found.type !== type) throw this.#set.refusal(`${oid.slice(0, 12)} is not a ${type}`);
    if (!found.bytes) throw this.#set.refusal(`it has a ${type} of more than ${most} bytes`);
    return found.bytes;
  }
}

/** Entries are `mode name NUL id`. Undefined if the bytes are something else. */
function parseTree(bytes: Buffer, oidBytes: number): TreeEntry[] | undefined {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const zero = bytes.indexOf(0, space);
    const end = zero + 1 + oidBytes;
    if (space === -1 || zero === -1 || end > bytes.length) return undefined;
    const mode = bytes.toString('latin1', at, space);
    if (!/^[0-7]{5,6}$/.test(mode)) return undefined;
    entries.push({ mode, name: bytes.subarray(space + 1, zero), oid: bytes.toString('hex', zero + 1, end) });
    at = end;
  }
  return entries;
}
