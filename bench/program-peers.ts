/**
 * The same number of calls in the code modes of other projects. Their tools do nothing, and run in the host.
 *
 * @module
 */
import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { experimental_runCodeMode } from '@ai-sdk/code-mode';
import { jsonSchema, tool } from 'ai';
import { answerOf, dismiss, installPeerPackages, PEERS } from './peer-process.ts';
import { installIndexPackages, PythonHost } from './python-host.ts';
import { PROGRAM_PEER_NAMES } from './runner/programs/peers.ts';
import type { ProgramPeer } from './runner/programs/run-program-bench.ts';

/** Calls as the program counted them, and as the tool did. */
interface Counts {
  made: number;
  served: number;
}

type Run = (calls: number) => Promise<Counts>;

const MODULES: readonly (readonly [name: string, module: string])[] = [
  [PROGRAM_PEER_NAMES.cloudflare, 'programs/workerd-worker'],
  [PROGRAM_PEER_NAMES.cloudflareHttp, 'programs/workerd-node'],
];
const FLAGS = ['--no-warnings'];
/** A peer makes as many when it starts, to see whether it can. */
const TRIAL_CALLS = 3;

export class ProgramPeers implements AsyncDisposable {
  readonly peers: ProgramPeer[] = [];
  /** What is missing or cannot make the calls, and why. */
  readonly leftOut: string[] = [];
  readonly #closers: (() => Promise<void>)[] = [];

  static async start(): Promise<ProgramPeers> {
    const peers = new ProgramPeers();
    await peers.addAiSdk();
    if (installPeerPackages()) for (const row of MODULES) await peers.addModule(...row);
    else peers.leftOut.push('Cloudflare executor in workerd: npm could not install workerd');
    if (installIndexPackages()) await peers.addMonty();
    else peers.leftOut.push('Monty: pip could not install it');
    return peers;
  }

  addAiSdk(): Promise<void> {
    return this.#add(PROGRAM_PEER_NAMES.aiSdk, aiSdkRun);
  }

  /** `module` is the path of a peer below `peers`, as `host.js` wants it. */
  addModule(name: string, module: string): Promise<void> {
    const child = fork(join(PEERS, 'host.js'), [module], { execArgv: FLAGS });
    this.#closers.push(() => dismiss(child));
    const ready = answerOf(child);
    return this.#add(name, async (calls) => {
      await ready;
      return moduleRun(child, calls);
    });
  }

  addMonty(): Promise<void> {
    const host = new PythonHost('monty-program');
    this.#closers.push(() => host[Symbol.asyncDispose]());
    return this.#add(PROGRAM_PEER_NAMES.monty, (calls) => montyRun(host, calls));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#closers.map((close) => close()));
  }

  async #add(name: string, run: Run): Promise<void> {
    const checked = async (calls: number): Promise<number> => assertServed(await run(calls), calls);
    try {
      await checked(TRIAL_CALLS);
      this.peers.push({ name, run: checked });
    } catch (error) {
      this.leftOut.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** A program that skips the tool would look fast. */
function assertServed({ made, served }: Counts, calls: number): number {
  if (made !== calls || served !== calls)
    throw new Error(`${made} calls made and ${served} served instead of ${calls}`);
  return made;
}

/** From a program in the QuickJS of the package. */
async function aiSdkRun(calls: number): Promise<Counts> {
  let served = 0;
  const execute = async (): Promise<{ words: number }> => {
    served++;
    return { words: 1 };
  };
  const echo = tool({ inputSchema: jsonSchema({ type: 'object' }), execute });
  const made = await experimental_runCodeMode({ js: sourceFor(calls), tools: { echo } });
  return { made: Number(made), served };
}

function sourceFor(calls: number): string {
  return `let made = 0;
for (let at = 0; at < ${calls}; at++) made += Number((await tools.echo({})).words > 0);
return made;`;
}

async function moduleRun(child: ChildProcess, calls: number): Promise<Counts> {
  const answer = answerOf<{ output: string }>(child);
  child.send({ params: JSON.stringify({ source: sourceFor(calls) }) });
  return countsOf(JSON.parse((await answer).output));
}

const MONTY_SOURCE = `made = 0
for _ in range(calls):
    made += int(echo({})["words"] > 0)
made`;

async function montyRun(host: PythonHost, calls: number): Promise<Counts> {
  const answer = await host.ask({ source: MONTY_SOURCE, modules: {}, params: { calls } });
  return countsOf('error' in answer ? answer : answer.output);
}

function countsOf(answer: unknown): Counts {
  const { made, served, error } = answer as Partial<Counts> & { error?: string };
  if (error !== undefined) throw new Error(error);
  return { made: Number(made), served: Number(served) };
}
