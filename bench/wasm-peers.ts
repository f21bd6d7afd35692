/**
 * The other sandboxes next to our Wasm cells, each in a separate process.
 *
 * @module
 */
import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { answerOf, dismiss, installPeerPackages, PEERS } from './peer-process.ts';
import {
  loadPeer,
  withParsedOutput,
  type FailedLoad,
  type Load,
  type LoadAnswer,
  type PeerThroughput,
} from './peer-throughput.ts';
import { runCommand, type Command } from './runner/plain.ts';
import type { Timing, Variant } from './runner/rounds.ts';
import { PARAMS } from './runner/wasm/languages.ts';
import { PEER_NAMES, type PeerName } from './runner/wasm/peers.ts';

/** Module under `peers/wasm` that runs each peer. */
const MODULES: readonly (readonly [name: PeerName, module: string])[] = [
  [PEER_NAMES.extismWorker, 'extism-worker'],
  [PEER_NAMES.extismInProcess, 'extism-in-process'],
  [PEER_NAMES.jco, 'jco'],
  [PEER_NAMES.quickjs, 'quickjs'],
  [PEER_NAMES.isolatedVm, 'isolated-vm'],
  [PEER_NAMES.workerd, 'workerd-fresh'],
  [PEER_NAMES.workerdWarm, 'workerd-warm'],
];

/** Peers for many callers, in the way that each uses several cores. Each gets a new process of callers. */
const CROWDS: readonly (readonly [peer: Pick<PeerThroughput, 'name' | 'note'>, module: string])[] = [
  [{ name: 'Extism, worker', note: 'a thread per plugin and call, in one process' }, 'extism-worker'],
  [
    { name: 'isolated-vm', note: 'an isolate per call in one process, on its own pool of threads' },
    'isolated-vm',
  ],
  [
    {
      name: 'workerd',
      note: 'an isolate per call, one process of workerd per core, called from another process',
    },
    'workerd-cores',
  ],
];

const SECONDS_TO_START_AND_END = 60;

const DENO = join(PEERS, 'node_modules', '@deno', 'linux-x64-glibc', 'deno');
const PROGRAM = join(PEERS, 'wasm', 'spawned.js');
const INPUT = JSON.stringify(PARAMS);

export class WasmPeers implements AsyncDisposable {
  readonly variants: Variant[] = [spawned(PEER_NAMES.node, [process.execPath, PROGRAM])];
  /** What is missing, and why. */
  readonly leftOut: string[] = [];
  readonly #children: ChildProcess[] = [];
  #isInstalled = false;

  static async start(): Promise<WasmPeers> {
    const peers = new WasmPeers();
    if (!installPeerPackages()) {
      peers.leftOut.push('all peers but Node: npm could not install them');
      return peers;
    }
    peers.#isInstalled = true;
    for (const [name, module] of MODULES) await peers.#add(name, module);
    if (existsSync(DENO)) {
      peers.variants.push(spawned(PEER_NAMES.deno, [DENO, 'run', '--no-lock', '--cached-only', PROGRAM]));
    } else peers.leftOut.push(`${PEER_NAMES.deno}: there is no binary for this machine`);
    return peers;
  }

  /** One after the other. The result must be that of the job without a sandbox, which the rounds compare with ours. */
  async throughput(load: Load): Promise<PeerThroughput[]> {
    const measured: PeerThroughput[] = [];
    const expected = (await spawned(PEER_NAMES.node, [process.execPath, PROGRAM]).run()).result;
    for (const [peer, module] of this.#isInstalled ? CROWDS : []) {
      const found = await loadPeer(peer, expected, () => loadModule(module, load));
      measured.push(...found.measured);
      this.leftOut.push(...found.leftOut);
    }
    return measured;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#children.map(dismiss));
  }

  async #add(name: PeerName, module: string): Promise<void> {
    const child = forkPeer(module);
    try {
      await answerOf(child);
    } catch (error) {
      this.leftOut.push(`${name}: ${error instanceof Error ? error.message : String(error)} when it started`);
      return;
    }
    this.#children.push(child);
    this.variants.push({ name, run: () => callPeer(child) });
  }
}

function forkPeer(module: string): ChildProcess {
  return fork(join(PEERS, 'host.js'), [`wasm/${module}`], { execArgv: ['--no-warnings'] });
}

/** `module` is the path of a peer below `peers/wasm`. */
export async function loadModule(module: string, load: Load): Promise<LoadAnswer | FailedLoad> {
  const child = forkPeer(module);
  // A peer that hangs under load must not stop the bench.
  const timer = setTimeout(() => child.kill('SIGKILL'), (load.seconds + SECONDS_TO_START_AND_END) * 1000);
  try {
    await answerOf(child);
    const answer = answerOf<LoadAnswer | FailedLoad>(child);
    child.send({ params: INPUT, load });
    return withParsedOutput(await answer);
  } finally {
    clearTimeout(timer);
    await dismiss(child);
  }
}

async function callPeer(child: ChildProcess): Promise<Timing> {
  const answer = answerOf<{ ms: number; output: string }>(child);
  child.send({ params: INPUT });
  const { ms, output } = await answer;
  return { ms, result: JSON.parse(output) };
}

function spawned(name: PeerName, argv: Command['argv']): Variant {
  return { name, run: () => runCommand({ argv, input: INPUT }) };
}
