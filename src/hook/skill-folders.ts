/**
 * Finds the skill that a path belongs to. Reads names of files only, never their content (except the first two bytes of a
 * file, to see whether it is a script).
 *
 * @module
 */
import { closeSync, existsSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
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

/** How a path relates to skills: in one (code or data), a folder that contains skills, or neither. */
export type Relation = 'code' | 'data' | 'above' | 'none';

export class SkillFolders {
  readonly home: string;
  #roots = new Map<string, string | undefined>();

  constructor(home: string) {
    this.home = home;
  }

  /** The folder of the skill that contains an absolute path. `..` may follow a link, so the path is not normalized. */
  skillOf(path: string): string | undefined {
    if (path.length > MAX_LENGTH || path.includes('\0')) return undefined;
    const lexical = withoutEnd(normalize(path));
    return (
      this.#nearest(lexical) ??
      this.#nearest(physical(path)) ??
      placeRoot(lexical) ??
      placeRoot(physical(path))
    );
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
    const real = physical(folder);
    if (`${this.home}/`.startsWith(real === '/' ? '/' : `${real}/`)) return true;
    return this.#isAbove(folder) || AGENT_PLACES.some((place) => existsSync(join(folder, place, 'skills')));
  }

  #isAbove(path: string): boolean {
    const candidates = [withoutEnd(normalize(path)), physical(path)];
    if (candidates.some((candidate) => ABOVE_PLACE.test(candidate) || PLACE.test(candidate))) return true;
    return foldersIn(path).some((name) => existsSync(join(path, name, SKILL_FILE)));
  }

  #nearest(path: string): string | undefined {
    if (this.#roots.has(path)) return this.#roots.get(path);
    // A home or a file system is never one skill.
    const isWide = path === '/' || path === '.' || `${this.home}/`.startsWith(`${path}/`);
    const root = isWide ? undefined : isSkill(path) ? path : this.#nearest(dirname(path));
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

function isSkill(folder: string): boolean {
  return existsSync(join(folder, SKILL_FILE)) || existsSync(join(folder, SKILL_FILE.toLowerCase()));
}

/** The path without links, as far as it exists. */
function physical(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const up = dirname(path);
    return up === path ? path : join(physical(up), path.slice(up.length));
  }
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
