/**
 * Finds the packages that the files of an Agent Skills folder declare: PEP 723 blocks, requirements.txt, pyproject.toml,
 * package.json. Texts are read, nothing is run: a setup.py is a program, so it is never looked at. The work is bounded.
 *
 * @module
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { join, posix } from 'node:path';
import { requirementProblem } from '../manifest/names.ts';
import { tomlStrings, type TomlString } from './toml-strings.ts';

/** A requirement as a file writes it. */
export interface DeclaredPackage {
  requirement: string;
  /** `scripts/x.py:3`. */
  at: string;
}

/** An npm package; the requirement is its name. */
export interface NpmNeed extends DeclaredPackage {
  /** The version or range. */
  spec: string;
}

export interface DeclaredPackages {
  python: DeclaredPackage[];
  npm: NpmNeed[];
  /** What cannot be used, and why. */
  skipped: { text: string; at: string; reason: string }[];
}

export interface PackageCaps {
  /** Total size of the files that are searched. */
  bytes: number;
  files: number;
}

export const PACKAGE_CAPS: PackageCaps = { bytes: 8 * 1024 * 1024, files: 1000 };
const NPM_NAME = /^(?:@[a-z0-9~][\w.~-]{0,100}\/)?[a-zA-Z0-9~][\w.~-]{0,100}$/;
/** A version or range; names of other packages, addresses and folders would choose where code comes from. */
const NPM_VERSION = /^[\w.^~<>=|*+ -]*$/;
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_FOUND = 256;

type Reader = (text: string, path: string, found: DeclaredPackages) => void;

const READERS: Readonly<Record<string, Reader>> = {
  'requirements.txt': readRequirements,
  'pyproject.toml': readPyproject,
  'package.json': readPackageJson,
};

/** Searches the verified copy of a bundle. */
export function findDeclaredPackages(
  stagedDir: string,
  paths: readonly string[],
  caps: PackageCaps = PACKAGE_CAPS,
): DeclaredPackages {
  const found: DeclaredPackages = { python: [], npm: [], skipped: [] };
  let left = caps.bytes;
  let files = 0;
  for (const path of paths) {
    const reader = readerOf(path);
    if (!reader) continue;
    const most = Math.min(MAX_FILE_BYTES, left);
    const text = ++files > caps.files || most <= 0 ? undefined : readWhole(join(stagedDir, path), most);
    if (text === undefined) {
      found.skipped.push({ text: path, at: path, reason: 'there is too much to search' });
      continue;
    }
    left -= text.length;
    reader(text, path, found);
  }
  return {
    python: found.python.slice(0, MAX_FOUND),
    npm: found.npm.slice(0, MAX_FOUND),
    skipped: found.skipped.slice(0, MAX_FOUND),
  };
}

function readerOf(path: string): Reader | undefined {
  const name = posix.basename(path);
  if (path.endsWith('.py')) return readScript;
  return Object.hasOwn(READERS, name) ? READERS[name] : undefined;
}

function readWhole(file: string, bytes: number): string | undefined {
  const fd = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(bytes + 1);
    const count = readSync(fd, buffer, 0, bytes + 1, 0);
    return count > bytes ? undefined : buffer.toString('utf8', 0, count);
  } finally {
    closeSync(fd);
  }
}

const BLOCK_START = /^# \/\/\/ script\s*$/;
const BLOCK_END = /^# \/\/\/\s*$/;

/** The first PEP 723 block: comment lines from `# /// script` to `# ///`. */
function readScript(text: string, path: string, found: DeclaredPackages): void {
  if (!text.includes('# /// script')) return;
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const start = lines.findIndex((line) => BLOCK_START.test(line));
  const length = lines.slice(start + 1).findIndex((line) => !/^#(?: |$)/.test(line) || BLOCK_END.test(line));
  if (start < 0 || length < 0 || !BLOCK_END.test(lines[start + 1 + length] ?? '')) return;
  const block = lines.slice(start + 1, start + 1 + length).map((line) => line.slice(2));
  const listed = tomlStrings(block.join('\n'), { table: '', key: 'dependencies' }) ?? [];
  addAll(
    listed.map((one) => Object.assign(one, { line: one.line + start + 1 })),
    path,
    found,
  );
}

function readPyproject(text: string, path: string, found: DeclaredPackages): void {
  const place = { table: 'project', key: 'dependencies' };
  addAll(tomlStrings(text.replaceAll('\r\n', '\n'), place) ?? [], path, found);
}

/** Lines of pip: options such as `-r` and direct addresses would choose where code comes from. */
function readRequirements(text: string, path: string, found: DeclaredPackages): void {
  const lines = text.split('\n').map((line) => upTo(line.replace(/\r$/, ''), /(?:^|\s)#/));
  const listed = lines.flatMap((line, index): TomlString[] => {
    const isContinued = index > 0 && lines[index - 1]?.endsWith('\\') === true;
    // Pinning chooses the digests of files again.
    const value = upTo(line.replace(/\\$/, ''), /\s--hash=/).trim();
    return value === '' || (isContinued && value.startsWith('--hash=')) ? [] : [{ value, line: index + 1 }];
  });
  addAll(listed, path, found);
}

/** The text before the first match. A pattern that goes on to the end of the line is tried at each match. */
function upTo(line: string, pattern: RegExp): string {
  const at = line.search(pattern);
  return at === -1 ? line : line.slice(0, at);
}

function readPackageJson(text: string, path: string, found: DeclaredPackages): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    found.skipped.push({ text: path, at: path, reason: 'it is not valid JSON' });
    return;
  }
  const dependencies = (value as { dependencies?: unknown } | null)?.dependencies;
  if (typeof dependencies !== 'object' || dependencies === null) return;
  for (const [name, spec] of Object.entries(dependencies))
    addNpm(found, { requirement: name, spec, at: path });
}

/** The first file that names a package decides on its version. */
function addNpm(found: DeclaredPackages, need: { requirement: string; spec: unknown; at: string }): void {
  const { requirement, spec, at } = need;
  if (found.npm.some((one) => one.requirement === requirement)) return;
  const text = `${requirement} ${String(spec)}`.slice(0, 200);
  if (!NPM_NAME.test(requirement))
    found.skipped.push({ text, at, reason: 'it is not the name of a package' });
  else if (typeof spec !== 'string' || spec.length > 200 || !NPM_VERSION.test(spec))
    found.skipped.push({ text, at, reason: 'it is not a version of the registry' });
  else found.npm.push({ requirement, spec, at });
}

function addAll(listed: readonly TomlString[], path: string, found: DeclaredPackages): void {
  for (const { value, line } of listed) {
    const at = `${path}:${line}`;
    const requirement = value.trim().replaceAll(/\s+/g, ' ');
    const problem = requirementProblem(requirement);
    if (problem === undefined) found.python.push({ requirement, at });
    else found.skipped.push({ text: requirement.slice(0, 200), at, reason: problem });
  }
}
