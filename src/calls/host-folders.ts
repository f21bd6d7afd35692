/**
 * Takes the folders of this machine out of what callers are told: an error names a file by the folder that it knows, and a
 * caller of a service has no business with the layout of its host. The operator has receipts, logs and the command line.
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
}

interface Place {
  folder: string;
  shown: string;
}

/** An absolute path with at least two parts, but not the path of a URL. */
const ABSOLUTE_PATH = /(?<![\w:/.<>-])\/[\w.@+~-]+(?:\/[\w.@+~-]+)+\/?/g;
const FILE_URL = /file:\/\/(?=\/)/g;
/** Frames of our own source. */
const STACK_LINE = /\n\s+at [^\n]*/g;
const MAX_DEPTH = 8;
const SPECIAL = /[\\^$.*+?()[\]{}|]/g;

export class HostFolders {
  readonly #places: readonly { pattern: RegExp; shown: string }[];

  constructor({ home, registries, workspace }: HostPlaces) {
    const named: Place[] = [
      { folder: home, shown: '<home>' },
      ...registries.map((folder) => ({ folder, shown: '<skills>' })),
      ...(workspace === undefined ? [] : [{ folder: workspace, shown: '<workspace>' }]),
      // The folder of a project has its skills in it.
      ...registries.map((folder) => ({ folder: dirname(folder), shown: '<project>' })),
      { folder: packageRoot(), shown: '<skillcell>' },
      { folder: homedir(), shown: '~' },
    ];
    // The innermost first: it says most, and leaves nothing of its path behind.
    this.#places = named
      .flatMap(withRealPath)
      .filter(({ folder }) => folder.length > 1)
      .sort((a, b) => b.folder.length - a.folder.length)
      .map(({ folder, shown }) => ({ shown, pattern: patternOf(folder) }));
  }

  text(text: string): string {
    return this.#places.reduce((rest, { pattern, shown }) => rest.replaceAll(pattern, shown), text);
  }

  /** Every text in it, of errors, warnings and plans; never of results. */
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
    const { stack: _stays, ...rest } = detail;
    const shown = this.within({ code, message, fix, detail: rest });
    if (code !== 'internal') return shown;
    // Nobody chose these words: they can name any file of the host.
    return { ...shown, message: withoutPaths(shown.message), detail: {} };
  }

  denial(event: CapabilityEvent): CapabilityEvent {
    return this.within(event);
  }

  /** A result and logs are words of the skill, which sees no more than its cell has; they stay as they are. */
  outcome(outcome: Outcome): Outcome {
    const warnings = this.within(outcome.warnings);
    const capabilities = this.within(outcome.capabilities);
    if (!outcome.ok) return { ...outcome, warnings, capabilities, error: this.error(outcome.error) };
    // By its properties: reading a large result would parse it.
    const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(outcome)) as Success;
    return Object.assign(copy, { warnings, capabilities });
  }
}

function withoutPaths(text: string): string {
  return text.replaceAll(STACK_LINE, '').replaceAll(FILE_URL, '').replaceAll(ABSOLUTE_PATH, '<path>');
}

/** Errors of the kernel name the folder as it is, those of ours as it was given. */
function withRealPath(place: Place): Place[] {
  try {
    const real = realpathSync(place.folder);
    return real === place.folder ? [place] : [place, { ...place, folder: real }];
  } catch {
    // A folder that is not there yet is made under its own name.
    return [place];
  }
}

/** The folder itself, not another whose name begins the same way. */
function patternOf(folder: string): RegExp {
  return new RegExp(`${folder.replaceAll(SPECIAL, String.raw`\$&`)}(?![\\w-]|\\.\\w)`, 'g');
}
