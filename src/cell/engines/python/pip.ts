/**
 * Runs pip, and reports from its output what it resolves and downloads. Its temporary files are in a folder of ours, so
 * the size of a download is known while it grows, and an interrupted installation leaves nothing behind.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../../../errors.ts';
import type { InstallProgress, InstallWatch } from '../../../load/install-progress.ts';
import type { Interpreter } from './interpreter.ts';

const INSTALL_TIMEOUT_MS = 10 * 60_000;
const MAX_PIP_OUTPUT = 16 * 1024 * 1024;
const POLL_MS = 200;
const MAX_WHAT = 100;
const PLAIN = ['--disable-pip-version-check', '--no-input', '--no-cache-dir', '--no-color'];

interface Cause {
  message: string;
  fix: string;
}

const UNKNOWN_CAUSE: Cause = {
  message: 'pip could not install the requirements',
  fix: 'Check the requirements of the manifest. A package without a wheel for this machine cannot be used.',
};

/** Causes that have nothing to do with the requirements, by what pip prints. */
const CAUSES: readonly (Cause & { sign: RegExp })[] = [
  {
    ...UNKNOWN_CAUSE,
    sign: /No module named pip/,
    fix: 'Install pip for the system Python: apt-get install python3-pip',
  },
  {
    sign: /DO NOT MATCH THE HASHES/,
    message: 'The package index delivers other bytes than skill.lock pins',
    fix: 'Undo the change if skill.lock was edited. To pin what the index has now, add --upgrade to `skillcell install` and review the change.',
  },
  {
    sign: /Failed to establish a new connection|Connection (?:to \S+ timed out|refused|reset)|Cannot connect to proxy/,
    message: 'pip could not reach the package index',
    fix: 'Connect this machine to the network, or set PIP_INDEX_URL to an index that it can reach, and run the command again.',
  },
];

export interface PipRun {
  interpreter: Interpreter;
  /** Contains nothing that pip could take for a requirement. */
  folder: string;
  /** Arguments after `--` are requirements. */
  args: readonly string[];
  /** The engine that the packages are for, as progress names it. */
  engine: string;
  watch?: InstallWatch | undefined;
}

/** Throws `skill_unavailable` with the end of pip's output; its cause has all of it as `stderr`. */
export async function runPip({ interpreter, folder, args, engine, watch = {} }: PipRun): Promise<void> {
  const temporary = `${folder}.tmp`;
  mkdirSync(temporary, { recursive: true });
  const progress = new PipProgress(temporary, (event) => watch.onInstall?.({ ...event, engine }));
  try {
    await runOnce([interpreter.path, '-m', 'pip', ...args.slice(0, 1), ...PLAIN, ...args.slice(1)], {
      folder,
      temporary,
      signal: watch.signal,
      onOutput: (text) => progress.read(text),
    });
  } catch (error) {
    if (watch.signal?.aborted) throw interrupted(error);
    throw failure(error, args);
  } finally {
    progress.close();
    rmSync(temporary, { recursive: true, force: true });
  }
}

interface Once {
  folder: string;
  temporary: string;
  signal: AbortSignal | undefined;
  onOutput: (text: string) => void;
}

function runOnce(
  [program = '', ...args]: string[],
  { folder, temporary, signal, onOutput }: Once,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = {
      cwd: folder,
      // The operator's environment configures the index.
      env: { ...process.env, TMPDIR: temporary, PYTHONUNBUFFERED: '1' },
      timeout: INSTALL_TIMEOUT_MS,
      maxBuffer: MAX_PIP_OUTPUT,
      ...(signal ? { signal } : {}),
    };
    const child = execFile(program, args, options, (error, _, stderr) => {
      if (error) reject(Object.assign(error, { stderr }));
      else resolve();
    });
    child.stdout?.on('data', (chunk: unknown) => onOutput(String(chunk)));
  });
}

/** Pip prints each package that it looks at, and the size of each file before it downloads it. */
class PipProgress implements Disposable {
  readonly #folder: string;
  readonly #report: (progress: Omit<InstallProgress, 'engine'>) => void;
  #rest = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string, report: (progress: Omit<InstallProgress, 'engine'>) => void) {
    this.#folder = folder;
    this.#report = report;
  }

  read(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = (lines.pop() ?? '').slice(-4096);
    for (const line of lines) this.#readLine(line.trim());
  }

  #readLine(line: string): void {
    // A file of a local index is "processed"; its name is enough.
    const [, collected] = /^(?:Collecting|Processing) (?:\S*\/)?([^\s/]+)/.exec(line) ?? [];
    if (collected !== undefined) return this.#start({ step: 'resolve', what: collected.slice(0, MAX_WHAT) });
    const [, path = '', amount = '', unit = ''] =
      /^Downloading (\S+?) \(([\d.]+) ([kMG]?B|bytes)\)/.exec(line) ?? [];
    const file = path.split('/').at(-1) ?? '';
    if (file !== '') return this.#follow(file.slice(0, MAX_WHAT), sizeOf(amount, unit));
    const [, list] = /^Installing collected packages: (.+)/.exec(line) ?? [];
    if (list !== undefined) this.#start({ step: 'unpack', what: packageCount(list.split(',').length) });
  }

  #start(progress: Omit<InstallProgress, 'engine'>): void {
    clearInterval(this.#timer);
    this.#report(progress);
  }

  #follow(file: string, totalBytes: number | undefined): void {
    this.#start({ step: 'download', what: file, totalBytes });
    this.#timer = setInterval(() => {
      this.#report({ step: 'download', what: file, bytes: bytesOf(this.#folder, file), totalBytes });
    }, POLL_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Pip uses decimal units. */
function sizeOf(amount: string, unit: string): number | undefined {
  const factors: Record<string, number> = { bytes: 1, B: 1, kB: 1e3, MB: 1e6, GB: 1e9 };
  const bytes = Number(amount) * (factors[unit] ?? Number.NaN);
  return Number.isFinite(bytes) ? Math.round(bytes) : undefined;
}

/** Pip writes a download to a folder of its own, one level below. */
function bytesOf(folder: string, file: string): number | undefined {
  try {
    const found = readdirSync(folder).map((name) =>
      statSync(join(folder, name, file), { throwIfNoEntry: false }),
    );
    return found.find((stat) => stat !== undefined)?.size;
  } catch {
    return undefined;
  }
}

function packageCount(count: number): string {
  return count === 1 ? '1 package' : `${count} packages`;
}

function failure(error: unknown, args: readonly string[]): SkillError {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : String(error);
  const cause = CAUSES.find(({ sign }) => sign.test(text)) ?? UNKNOWN_CAUSE;
  return new SkillError('skill_unavailable', `${cause.message}: ${lastLines(text)}`, {
    fix: cause.fix,
    detail: { requirements: args.includes('--') ? args.slice(args.indexOf('--') + 1) : [] },
    cause: error,
  });
}

function interrupted(cause: unknown): SkillError {
  return new SkillError('cancelled', 'The installation was cancelled', {
    fix: 'Run it again; nothing unfinished was kept.',
    cause,
  });
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' ').slice(0, 500);
}
