/**
 * The other sandboxes next to our Wasm cells, each in a separate process.
 *
 * @module
 */
import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { answerOf, dismiss, installPeerPackages, PEERS } from './peer-process.ts';
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

const DENO = join(PEERS, 'node_modules', '@deno', 'linux-x64-glibc', 'deno');
const PROGRAM = join(PEERS, 'wasm', 'spawned.js');
const INPUT = JSON.stringify(PARAMS);

export class WasmPeers implements AsyncDisposable {
  readonly variants: Variant[] = [spawned(PEER_NAMES.node, [process.execPath, PROGRAM])];
  /** What is missing, and why. */
  readonly leftOut: string[] = [];
  readonly #children: ChildProcess[] = [];

  static async start(): Promise<WasmPeers> {
    const peers = new WasmPeers();
    if (!installPeerPackages()) {
      peers.leftOut.push('all peers but Node: npm could not install them');
      return peers;
    }
    for (const [name, module] of MODULES) await peers.#add(name, module);
    if (existsSync(DENO)) {
      peers.variants.push(spawned(PEER_NAMES.deno, [DENO, 'run', '--no-lock', '--cached-only', PROGRAM]));
    } else peers.leftOut.push(`${PEER_NAMES.deno}: there is no binary for this machine`);
    return peers;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#children.map(dismiss));
  }

  async #add(name: PeerName, module: string): Promise<void> {
    const child = fork(join(PEERS, 'host.js'), [`wasm/${module}`], { execArgv: ['--no-warnings'] });
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

async function callPeer(child: ChildProcess): Promise<Timing> {
  const answer = answerOf<{ ms: number; output: string }>(child);
  child.send({ params: INPUT });
  const { ms, output } = await answer;
  return { ms, result: JSON.parse(output) };
}

function spawned(name: PeerName, argv: Command['argv']): Variant {
  return { name, run: () => runCommand({ argv, input: INPUT }) };
}
