/**
 * The other sandbox of the comparison: installed when needed, measured in a separate process.
 *
 * @module
 */
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provide, type Need } from '../scripts/needs.ts';
import { answerOf, dismiss, installPeerPackages, PEERS, versionOf } from './peer-process.ts';
import {
  loadPeer,
  withParsedOutput,
  type FailedLoad,
  type Load,
  type LoadAnswer,
  type PeerThroughputs,
} from './peer-throughput.ts';
import type { Command } from './runner/plain.ts';
import type { Timing, Variant } from './runner/rounds.ts';

const PACKAGE = '@anthropic-ai/sandbox-runtime';
const NEEDS: readonly Need[] = [
  { name: 'bubblewrap', probe: ['bwrap', '--version'], debianPackage: 'bubblewrap', suites: [] },
  { name: 'socat', probe: ['socat', '-V'], debianPackage: 'socat', suites: [] },
  { name: 'ripgrep', probe: ['rg', '--version'], debianPackage: 'ripgrep', suites: [] },
];

/** Why the peer cannot be used, or undefined if it can. */
export function installPeer(): string | undefined {
  const missing = provide(NEEDS);
  if (missing.length > 0) return `it needs ${missing.map((need) => need.name).join(', ')}`;
  return installPeerPackages() ? undefined : `npm could not install ${PACKAGE}`;
}

export class Peer implements AsyncDisposable {
  readonly name: string = `srt ${versionOf(PACKAGE)}`;
  /** Happens once per process, and is not part of any row. */
  readonly initializeMs: number;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(child: ChildProcess, initializeMs: number, folder: string) {
    this.#child = child;
    this.initializeMs = initializeMs;
    this.#folder = folder;
  }

  static async start(): Promise<Peer> {
    // It searches its working directory before every call; an empty one costs it least.
    const folder = mkdtempSync(join(tmpdir(), 'skillcell-bench-peer-'));
    const child = fork(join(PEERS, 'srt.js'), { cwd: folder, execArgv: [] });
    const { initializeMs } = await answerOf<{ initializeMs: number }>(child);
    return new Peer(child, initializeMs, folder);
  }

  variant(command: Command): Variant {
    const line = lineOf(command);
    return { name: this.name, run: () => this.#run(line, command.input) };
  }

  /** `expected` is our own result. */
  throughput(command: Command, load: Load, expected: unknown): Promise<PeerThroughputs> {
    const note = 'a command per call, all started by one process';
    return loadPeer({ name: this.name, note }, expected, async () => {
      const answer = answerOf<LoadAnswer | FailedLoad>(this.#child);
      this.#child.send({ command: lineOf(command), input: command.input, load });
      return withParsedOutput(await answer);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await dismiss(this.#child);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #run(command: string, input: string): Promise<Timing> {
    const answer = answerOf<{ ms: number; spawnMs: number; output: string }>(this.#child);
    this.#child.send({ command, input });
    const { ms, spawnMs, output } = await answer;
    return { ms, result: JSON.parse(output), parts: { 'without wrapping': spawnMs } };
  }
}

function lineOf({ argv }: Command): string {
  return argv.map(quoted).join(' ');
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
