/**
 * Peers from the Python index: their packages, and the process of one of them.
 *
 * @module
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { runProgram } from '../scripts/steps.ts';
import { PEERS } from './peer-process.ts';
import type { Load, LoadAnswer } from './peer-throughput.ts';

const FOLDER = join(PEERS, 'python');
const PACKAGES = join(FOLDER, 'packages');
const PYTHON = '/usr/bin/python3';

export interface HostRequest {
  source: string;
  modules: Record<string, string>;
  params: unknown;
  /** Only Monty takes it. */
  load?: Load;
}

export type HostAnswer = { ms: number; output: unknown } | LoadAnswer | { error: string };

/** A process of `host.py`; it answers one request after another. */
export class PythonHost implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: Interface;

  constructor(peer: string) {
    this.#process = spawn(PYTHON, ['-I', join(FOLDER, 'host.py'), peer, PACKAGES], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    // Its exit is reported by the request that waits.
    this.#process.stdin.on('error', () => undefined);
    this.#lines = createInterface({ input: this.#process.stdout });
  }

  async ask(request: HostRequest): Promise<HostAnswer> {
    if (this.#hasExited()) return { error: this.#exitText() };
    const exit = new AbortController();
    const onExit = (): void => exit.abort();
    this.#process.once('exit', onExit);
    try {
      const line = once(this.#lines, 'line', { signal: exit.signal }) as Promise<[string]>;
      this.#process.stdin.write(`${JSON.stringify(request)}\n`);
      const [text] = await line;
      return JSON.parse(text) as HostAnswer;
    } catch {
      return { error: this.#exitText() };
    } finally {
      this.#process.off('exit', onExit);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasExited()) return;
    const exit = once(this.#process, 'exit');
    this.#process.stdin.end();
    await exit;
  }

  #hasExited(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  #exitText(): string {
    return `its process exited with ${this.#process.exitCode ?? this.#process.signalCode}`;
  }
}

/** False if pip could not. A changed list is installed again. */
export function installIndexPackages(): boolean {
  const list = join(FOLDER, 'requirements.txt');
  const installed = join(PACKAGES, 'requirements.txt');
  const wanted = readFileSync(list, 'utf8');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return true;
  rmSync(PACKAGES, { recursive: true, force: true });
  const draft = `${PACKAGES}.draft`;
  rmSync(draft, { recursive: true, force: true });
  const pip = ['-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', '--target', draft, '-r', list];
  if (!runProgram(PYTHON, pip)) return false;
  copyFileSync(list, join(draft, 'requirements.txt'));
  renameSync(draft, PACKAGES);
  return true;
}
