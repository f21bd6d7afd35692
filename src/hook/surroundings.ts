/**
 * What is known about the shell at one point of a command: possible working directories and variables. Turns words into paths.
 *
 * @module
 */
import { isAbsolute } from 'node:path';
import { matchesOf, type Piece } from './globs.ts';
import type { Relation, SkillFolders } from './skill-folders.ts';
import { NotUnderstood, type Word } from './shell/syntax.ts';

const MAX_FOLDERS = 12;
/** Where a piece of text can begin or end that is a path. */
const AROUND_PATHS = /[\s'"`()[\]{}<>|&;=:,@#!?*$\\^]+/;
const MAX_PIECES = 20_000;
const MAX_PATH = 4096;

/** The shell sets them itself, whatever their value was when it started. */
const SET_BY_SHELL =
  /^(?:_|OLDPWD|S?RANDOM|SECONDS|LINENO|PPID|SHLVL|REPLY|OPT\w+|DIRSTACK|MAPFILE|FUNCNAME|GROUPS|PIPESTATUS|EPOCH\w+|HISTCMD|COPROC|BASH\w*|COMP\w+)$/;
/** Links to the working directory and to the root of whatever process looks at them. */
const PROC_LINK = /^\/+proc\/+[^/]*\/+(?:task\/+[^/]*\/+)?(cwd|root)(?=\/|$)/;

/** A word as the shell will see it. */
export interface Resolved {
  /** Undefined if only the shell can know. */
  text: string | undefined;
  /** The files that it may become, if it is a pattern. */
  matches?: string[] | undefined;
  isPattern: boolean;
}

export class Surroundings {
  readonly folders: SkillFolders;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Most likely first. */
  cwds: string[];
  /** Set after a `cd` whose target is not known. */
  isLost = false;
  /** Variables that the command assigns: their text, or undefined if it is not known. */
  readonly variables: Map<string, string | undefined> = new Map();
  /** Variables that were assigned something about a skill, even if their value is not certain. */
  readonly aboutSkills: Set<string> = new Set();

  constructor(folders: SkillFolders, cwd: string, env: Readonly<Record<string, string | undefined>>) {
    this.folders = folders;
    this.env = env;
    this.cwds = [cwd];
  }

  /** For a subshell: what it changes is gone when it ends. */
  copy(): Surroundings {
    const copy = new Surroundings(this.folders, this.cwd, this.env);
    copy.cwds = [...this.cwds];
    copy.isLost = this.isLost;
    for (const [name, value] of this.variables) copy.variables.set(name, value);
    for (const name of this.aboutSkills) copy.aboutSkills.add(name);
    return copy;
  }

  get cwd(): string {
    return this.cwds[0] ?? '/';
  }

  /** The command may be in any of these from here on. */
  addFolders(folders: readonly string[]): void {
    this.cwds = [...new Set([...this.cwds, ...folders])];
    if (this.cwds.length > MAX_FOLDERS) throw new NotUnderstood('it changes the folder too often');
  }

  resolve(word: Word): Resolved {
    const pieces: Piece[] = [];
    for (const part of word.parts) {
      if (part.kind === 'computed') return { text: undefined, isPattern: false };
      if (part.kind === 'text') pieces.push(part);
      else {
        const value = this.#valueOf(part.kind === 'home' ? 'HOME' : part.name);
        const isSplit = part.kind === 'parameter' && !part.quoted && !/^[^\s*?[\]{}]+$/.test(value ?? '');
        if (value === undefined || isSplit) return { text: undefined, isPattern: false };
        pieces.push({ text: value, quoted: true });
      }
    }
    const text = pieces.map((piece) => piece.text).join('');
    const unquoted = pieces.map((piece) => (piece.quoted ? '' : piece.text)).join('\0');
    if (!/[*?[]|\{.*(?:,|\.\.)/s.test(unquoted) || text === '[') return { text, isPattern: false };
    const lists = this.cwds.map((cwd) => matchesOf(pieces, cwd, this.folders));
    const matches = lists.some((list) => list === undefined)
      ? undefined
      : lists.flat().filter((list) => list !== undefined);
    return { text, isPattern: true, matches };
  }

  #valueOf(name: string): string | undefined {
    if (this.variables.has(name)) return this.variables.get(name);
    if (name === 'PWD') return this.cwds.length === 1 && !this.isLost ? this.cwd : undefined;
    if (name === 'HOME') return this.folders.home;
    return SET_BY_SHELL.test(name) ? undefined : this.env[name];
  }

  /** What `~` means; undefined if the command computes it. */
  get home(): string | undefined {
    return this.#valueOf('HOME');
  }

  /** Every place that a path can mean: of the less likely folders, only those where it exists. */
  placesOf(path: string): string[] {
    if (path === '') return [];
    const [link, kind] = PROC_LINK.exec(path) ?? [];
    if (link !== undefined)
      return this.cwds.map((cwd) => (kind === 'cwd' ? cwd : '') + path.slice(link.length));
    if (isAbsolute(path)) return [path];
    const [first = '/', ...others] = this.cwds.map((cwd) => `${cwd}/${path}`);
    return [first, ...others.filter((place) => this.folders.exists(place))];
  }

  skillOf(path: string): string | undefined {
    for (const place of this.placesOf(path)) {
      const root = this.folders.skillOf(place);
      if (root !== undefined) return root;
    }
    return undefined;
  }

  /** The skill whose folder the command runs in, unless that is the user's own project. */
  skillAround(project: string): string | undefined {
    const roots = this.cwds.map((cwd) => ({ cwd, root: this.folders.skillOf(cwd) }));
    return roots.find(
      ({ cwd, root }) => root !== undefined && (cwd !== project || this.folders.isListed(root)),
    )?.root;
  }

  /** Never the home or a folder above it: a skill would read all of it. */
  workspaceFor(skill: string, project: string): string | undefined {
    const isWide = (folder: string): boolean =>
      folder === '/' || `${this.folders.home}/`.startsWith(`${folder}/`);
    return [this.cwd, project].find((folder) => !isWide(folder) && this.folders.skillOf(folder) !== skill);
  }

  /** The skill of the first of these files that exists in one. */
  ownerOf(files: readonly string[]): string | undefined {
    const there = files.filter((file) => this.placesOf(file).some((place) => this.folders.exists(place)));
    return there.map((file) => this.skillOf(file)).find((skill) => skill !== undefined);
  }

  relationOf(path: string): Relation {
    return strongest(this.placesOf(path).map((place) => this.folders.relationOf(place)));
  }

  /** What the text of an argument, or code in it, mentions: the text as a path, and every path-like piece of it. */
  mentionIn(text: string): Relation {
    const variants = [text, text.replaceAll(/["'\\]/g, '')];
    const pieces = [
      ...quotedIn(text),
      ...variants.flatMap((variant) => variant.split(AROUND_PATHS)),
      ...modulesIn(text),
    ].flatMap(withoutOption);
    const all = [...new Set([...(text.length < MAX_PATH ? [text] : []), ...pieces])];
    if (all.length > MAX_PIECES) return 'code';
    // A word is at most a path; a lone name means something only if it exists.
    const paths = all.filter(
      (piece) => piece !== '' && (piece.includes('/') || this.folders.exists(`${this.cwd}/${piece}`)),
    );
    return strongest(
      paths.map((path) => this.relationOf(path.startsWith('~/') ? this.folders.home + path.slice(1) : path)),
    );
  }

  mentionOf(word: Word): Relation {
    const { text, isPattern, matches } = this.resolve(word);
    if (isPattern && matches === undefined) return 'code';
    if (isPattern && matches !== undefined && matches.length > 0)
      return strongest(matches.map((path) => this.relationOf(path)));
    if (text !== undefined) return this.mentionIn(text);
    if (word.parts.some((part) => part.kind === 'parameter' && this.#mayNameSkill(part.name))) return 'code';
    return strongest([this.mentionIn(this.#withValues(word)), this.mentionIn(rawText(word))]);
  }

  #mayNameSkill(name: string): boolean {
    return this.aboutSkills.has(name) && this.#valueOf(name) === undefined;
  }

  /** The text of a word, with the values that are known in place of its parameters. */
  #withValues({ parts }: Word): string {
    return parts
      .map((part) => {
        if (part.kind === 'text') return part.text;
        if (part.kind === 'home') return this.folders.home;
        return part.kind === 'parameter' ? (this.#valueOf(part.name) ?? '') : part.raw;
      })
      .join('');
  }
}

/** Without what is computed, so that `.cl${x}aude` is seen. */
function rawText({ parts }: Word): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

/** Paths with blanks, and folders in front of a pattern. Every step is linear in the length of the text. */
function quotedIn(text: string): string[] {
  const quoted = [...text.matchAll(/"([^"\n]*)"|'([^'\n]*)'/g)].map(([, one, other]) => one ?? other ?? '');
  const words = text.includes('\\ ') ? text.split(/(?<!\\)\s/) : [];
  const escaped = words
    .filter((word) => word.includes('\\ '))
    .map((word) => word.replaceAll(/\\([^])/g, '$1'));
  const folders = text.split(/[\s'"`()<>|&;=:,]/).map((word) => {
    const before = word.slice(0, Math.max(0, word.search(/[*?]/)));
    return before.slice(0, before.lastIndexOf('/') + 1);
  });
  return [...quoted, ...escaped, ...folders].filter(
    (piece) => piece.includes('/') && piece.length < MAX_PATH,
  );
}

/** Modules that Python code imports, as paths: `import tool.scripts.a` reads `tool/scripts/a.py`. */
function modulesIn(text: string): string[] {
  if (!/\bimport\b|__import__|import_module|run_module/.test(text)) return [];
  const names = text.match(/[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/g) ?? [];
  return [...new Set(names)].flatMap((name) => {
    const path = name.replaceAll('.', '/');
    return name === path ? [`${path}.py`] : [path, `${path}.py`];
  });
}

/** `-C.claude` and `:-.claude` as well. */
function withoutOption(piece: string): string[] {
  return /^[-+]/.test(piece) ? [piece, piece.replace(/^[-+]+/, ''), piece.replace(/^-\w/, '')] : [piece];
}

const ORDER: readonly Relation[] = ['code', 'above', 'data', 'none'];

export function strongest(relations: readonly Relation[]): Relation {
  return ORDER.find((relation) => relations.includes(relation)) ?? 'none';
}
