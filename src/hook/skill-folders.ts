/**
 * Finds the skill that a path belongs to. Reads names of files only, never their content (except the first two bytes of a
 * file, to see whether it is a script).
 *
 * @module
 */
import { closeSync, existsSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { NotUnderstood } from './shell/syntax.ts';
import { AGENT_PLACES, SKILL_FILE } from '../vocabulary/agent-folders.ts';

const NAMES = `(?:${AGENT_PLACES.join('|').replaceAll('.', String.raw`\.`)})`;
const PLACE = new RegExp(`/${NAMES}/skills$`, 'i');
const IN_PLACE = new RegExp(`^(.*/${NAMES}/skills/[^/]+)(?:/|$)`, 'i');
const ABOVE_PLACE = new RegExp(`/${NAMES}(?:/skills)?$`, 'i');
const MENTION = new RegExp(String.raw`${NAMES}/+(?:\./+)*(?:skills|plugins)`, 'i');
const PLUGINS = /\/\.claude\/plugins\//i;
const SCRIPT_NAME =
  /\.(?:py|pyw|pyz|pyc|sh|bash|zsh|ksh|fish|js|mjs|cjs|ts|mts|cts|jsx|tsx|rb|pl|pm|php|r|lua|ps1|jar|wasm|so|exe|bin|zip|whl|sql|mk|awk|sed|tcl|jl|go|rs|swift|scpt|applescript|command|vbs|bat|cmd)$|(?:^|\/)(?:Makefile|makefile|GNUmakefile|package\.json|setup\.cfg|pyproject\.toml|conftest|justfile|Rakefile|Gemfile|Dockerfile)[^/]*$/i;
const MAX_ENTRIES = 500;
const MAX_LENGTH = 4096;
/** Questions to the file system about one command: an agent goes on without the hook if that takes too long. */
const MAX_LOOKUPS = 20_000;

/** A command that cannot be judged in time: it is denied, whatever it contains. */
export class TooMuchWork extends NotUnderstood {}

/** How a path relates to skills: in one (code or data), a folder that contains skills, or neither. */
export type Relation = 'code' | 'data' | 'above' | 'none';

export class SkillFolders {
  readonly home: string;
  readonly #roots = new Map<string, string | undefined>();
  readonly #present = new Map<string, boolean>();
  readonly #physical = new Map<string, string>();
  readonly #above = new Map<string, boolean>();
  #lookups = 0;

  constructor(home: string) {
    this.home = home;
  }

  /** Throws once a command has asked too much. */
  spend(lookups: number): void {
    this.#lookups += lookups;
    if (this.#lookups > MAX_LOOKUPS) throw new TooMuchWork('it names too many files');
  }

  /** The folder of the skill that contains an absolute path. `..` may follow a link, so the path is not normalized. */
  skillOf(path: string): string | undefined {
    if (path.length > MAX_LENGTH || path.includes('\0')) return undefined;
    const lexical = withoutEnd(normalize(path));
    const real = this.physical(path);
    const folders = [this.#existingPart(lexical), this.#existingPart(real)];
    const nearest = folders.map((folder) => this.#nearest(folder)).find((root) => root !== undefined);
    return nearest ?? placeRoot(lexical) ?? placeRoot(real);
  }

  /** Whether agents look for skills there: no project of the user is. */
  isListed(root: string): boolean {
    return IN_PLACE.test(root) || PLUGINS.test(root);
  }

  relationOf(path: string): Relation {
    if (this.skillOf(path) !== undefined) return isData(path) ? 'data' : 'code';
    return this.#isAbove(path) ? 'above' : 'none';
  }

  /** Whether skills of an agent lie anywhere below a folder that a search starts from. */
  containsPlace(folder: string): boolean {
    const real = this.physical(folder);
    if (`${this.home}/`.startsWith(real === '/' ? '/' : `${real}/`)) return true;
    return this.#isAbove(folder) || AGENT_PLACES.some((place) => existsSync(join(folder, place, 'skills')));
  }

  #isAbove(path: string): boolean {
    const real = this.physical(path);
    const candidates = [withoutEnd(normalize(path)), real];
    if (candidates.some((candidate) => ABOVE_PLACE.test(candidate) || PLACE.test(candidate))) return true;
    const known = this.#above.get(real) ?? this.#hasSkills(real);
    this.#above.set(real, known);
    return known;
  }

  #hasSkills(folder: string): boolean {
    if (!this.exists(folder)) return false;
    const names = foldersIn(folder);
    this.spend(1 + names.length);
    return names.some((name) => existsSync(join(folder, name, SKILL_FILE)));
  }

  /** The path without links, as far as it exists. */
  physical(path: string): string {
    const known = this.#physical.get(path) ?? this.#resolve(path);
    this.#physical.set(path, known);
    return known;
  }

  #resolve(path: string): string {
    const there = this.#existingPart(path);
    try {
      return there === path
        ? realpathSync.native(path)
        : join(this.physical(there), path.slice(there.length));
    } catch {
      // It is not readable, or gone.
      return path;
    }
  }

  /** From the top, so that nothing is asked about a path in a folder that does not exist. */
  #existingPart(path: string): string {
    let there = '/';
    for (let end = 1; end <= path.length; end++) {
      if (end < path.length && path[end] !== '/') continue;
      const part = path.slice(0, end);
      if (!this.exists(part)) return there;
      there = part;
    }
    return there;
  }

  exists(path: string): boolean {
    const known = this.#present.get(path);
    if (known !== undefined) return known;
    this.spend(1);
    const found = existsSync(path);
    this.#present.set(path, found);
    return found;
  }

  #isSkill(folder: string): boolean {
    if (!this.exists(folder)) return false;
    this.spend(1);
    return existsSync(join(folder, SKILL_FILE)) || existsSync(join(folder, SKILL_FILE.toLowerCase()));
  }

  #nearest(path: string): string | undefined {
    if (this.#roots.has(path)) return this.#roots.get(path);
    // A home or a file system is never one skill.
    const isWide = path === '/' || path === '.' || `${this.home}/`.startsWith(`${path}/`);
    const root = isWide ? undefined : this.#isSkill(path) ? path : this.#nearest(dirname(path));
    this.#roots.set(path, root);
    return root;
  }
}

/** Whether a text contains the name of a folder in which agents look for skills. */
export function namesPlace(text: string): boolean {
  return MENTION.test(text);
}

function placeRoot(path: string): string | undefined {
  return IN_PLACE.exec(path)?.[1];
}

/** A regular file that no program takes for code: by its name, its mode and its first two characters. */
function isData(path: string): boolean {
  try {
    const stat = statSync(path);
    if (!stat.isFile() || (stat.mode & 0o111) !== 0 || SCRIPT_NAME.test(path)) return false;
    const start = Buffer.alloc(2);
    const file = openSync(path, 'r');
    try {
      readSync(file, start, 0, 2, 0);
    } finally {
      closeSync(file);
    }
    return start.toString('latin1') !== '#!';
  } catch {
    return false;
  }
}

function foldersIn(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true }).slice(0, MAX_ENTRIES);
    return entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map(({ name }) => name);
  } catch {
    return [];
  }
}

function withoutEnd(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
