/**
 * Replaces host folders in everything that callers of a service receive: errors name files by their host path, and callers
 * must not learn the layout of the host. The operator has receipts, logs and the command line.
 *
 * @module
 */
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import type { ErrorBody } from '../errors.ts';
import type { CapabilityEvent, Outcome, Success } from '../outcome.ts';
import { packageRoot } from '../package-root.ts';

export interface HostPlaces {
  home: string;
  registries: readonly string[];
  workspace?: string | undefined;
  /** Further files and folders that callers must not learn of. */
  hidden?: readonly string[];
}

interface Place {
  folder: string;
  alias: string;
}

/** An absolute path with at least two parts, but not the path of a URL. */
const ABSOLUTE_PATH = /(?<![\w:/.<>-])\/[\w.@+~-]+(?:\/[\w.@+~-]+)+\/?/g;
const COMMAND_ON_SKILL = /(\bskillcell [a-z]+ )<skills>\/([a-z0-9_-]+\/[a-z0-9_-]+)(?![\w/.-])/g;
const FILE_URL = /file:\/\/(?=\/)/g;
/** Stack frames of Skillcell's own source. */
const STACK_LINE = /\n\s+at [^\n]*/g;
const MAX_DEPTH = 8;
const SPECIAL = /[\\^$.*+?()[\]{}|]/g;

export class HostFolders {
  readonly #places: readonly (Place & { pattern: RegExp })[];
  /** False if a folder was given as a bare name. */
  readonly #arePaths: boolean;

  constructor({ home, registries, workspace, hidden = [] }: HostPlaces) {
    const named: Place[] = [
      { folder: home, alias: '<home>' },
      ...registries.map((folder) => ({ folder, alias: '<skills>' })),
      ...(workspace === undefined ? [] : [{ folder: workspace, alias: '<workspace>' }]),
      ...hidden.map((folder) => ({ folder, alias: '<hidden>' })),
      // A project's folder contains its skills.
      ...registries.map((folder) => ({ folder: dirname(folder), alias: '<project>' })),
      { folder: packageRoot(), alias: '<skillcell>' },
      { folder: homedir(), alias: '~' },
    ];
    // The innermost folder first: its alias is the most specific, and no part of its path remains.
    this.#places = named
      .flatMap(withRealPath)
      .filter(({ folder }) => folder.length > 1)
      .sort((a, b) => b.folder.length - a.folder.length)
      .map(({ folder, alias }) => ({ alias, folder, pattern: patternOf(folder) }));
    this.#arePaths = this.#places.every(({ folder }) => folder.includes('/'));
  }

  text(text: string): string {
    // Most texts are keys and short words.
    if (this.#arePaths && !text.includes('/')) return text;
    const aliased = this.#places.reduce((rest, { pattern, alias }) => rest.replaceAll(pattern, alias), text);
    // An alias is not a path, so a command that names a skill would not work; its id does.
    return aliased.replaceAll(COMMAND_ON_SKILL, '$1$2');
  }

  /** Replaces in every string of a value. For errors, warnings and plans; never for results. */
  within<T>(value: T, depth = 0): T {
    if (typeof value === 'string') return this.text(value) as T;
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= MAX_DEPTH) return (Array.isArray(value) ? [] : {}) as T;
    if (Array.isArray(value)) return value.map((item: unknown) => this.within(item, depth + 1)) as T;
    const entries = Object.entries(value).map(([key, item]: [string, unknown]) => [
      this.text(key),
      this.within(item, depth + 1),
    ]);
    return Object.fromEntries(entries) as T;
  }

  error({ code, message, fix, detail }: ErrorBody): ErrorBody {
    const { stack: _stack, ...rest } = detail;
    const alias = this.within({ code, message, fix, detail: rest });
    if (code !== 'internal') return alias;
    // The message comes from an unexpected exception and can name any file of the host.
    return { ...alias, message: withoutPaths(alias.message), detail: {} };
  }

  denial(event: CapabilityEvent): CapabilityEvent {
    return this.within(event);
  }

  /** Result and logs stay unchanged: they come from the skill, which sees only its cell. */
  outcome(outcome: Outcome): Outcome {
    const warnings = this.within(outcome.warnings);
    const capabilities = this.within(outcome.capabilities);
    if (!outcome.ok) return { ...outcome, warnings, capabilities, error: this.error(outcome.error) };
    // Copy the property descriptors, because reading a large result would parse it.
    const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(outcome)) as Success;
    return Object.assign(copy, { warnings, capabilities });
  }
}

function withoutPaths(text: string): string {
  return text.replaceAll(STACK_LINE, '').replaceAll(FILE_URL, '').replaceAll(ABSOLUTE_PATH, '<path>');
}

/** Kernel errors name the real path, our own errors the given one. */
function withRealPath(place: Place): Place[] {
  try {
    const real = realpathSync(place.folder);
    return real === place.folder ? [place] : [place, { ...place, folder: real }];
  } catch {
    // A folder that does not exist yet is created under the given name.
    return [place];
  }
}

/** Matches the folder itself, not another whose name starts with the same text. */
function patternOf(folder: string): RegExp {
  return new RegExp(`${folder.replaceAll(SPECIAL, String.raw`\$&`)}(?![\\w-]|\\.\\w)`, 'g');
}
