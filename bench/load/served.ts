/**
 * The service under load: the real command in a separate process, and everything that it ever started.
 *
 * @module
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeToken } from '../../src/http/access-file.ts';
import { packageRoot } from '../../src/inside.ts';
import { descendantsOf, isAlive, membersOfGroups, memoryOf, type Seen } from './processes.ts';
import { KINDS } from './skills.ts';

const COMMAND = join(packageRoot(), 'bin/skillcell.js');
const LOOK_MS = 500;
/** More than everything except the fast skill takes together. */
const CONCURRENT = 16;

export interface ServedOptions {
  folder: string;
  clients: number;
}

/** Writes an access file with enough queue space for every client, and returns the token. */
export function writeAccess({ folder, clients }: ServedOptions): string {
  const { entry, secret } = makeToken({ name: 'load', tenant: 'load', scopes: ['admin'] });
  const skills = Object.fromEntries(
    KINDS.map(({ name, concurrent }) => [`load/${name}`, { concurrent, queue: clients }]),
  );
  const room = { concurrent: CONCURRENT, queue: clients };
  const rules = { version: 1, tokens: [entry], limits: room, tenants: { load: room }, skills };
  writeFileSync(join(folder, 'access.json'), JSON.stringify(rules), { mode: 0o600 });
  return secret;
}

export class Served {
  readonly url: string;
  readonly pid: number;
  readonly memory: number[] = [];
  readonly #child: ChildProcess;
  readonly #started = new Map<number, Seen>();
  readonly #looking: NodeJS.Timeout;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    this.pid = child.pid ?? 0;
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
  }

  static async start({ folder }: ServedOptions): Promise<Served> {
    const child = spawn(
      process.execPath,
      [COMMAND, 'serve', '--port', '0', '--access', join(folder, 'access.json'), '--drain', '20s'],
      { cwd: folder, env: envFor(folder), stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    return new Served(child, /http:\S+/.exec(line.toString())?.[0] ?? '');
  }

  /** A process of a running cell. */
  someCell(): number | undefined {
    const running = descendantsOf(this.pid);
    return running[Math.floor(Math.random() * running.length)]?.pid;
  }

  /** Stops it as an operator would; returns how many processes remained, including itself if it did not exit. */
  async stop(): Promise<number> {
    return this.#end('SIGTERM', 30_000);
  }

  async kill(): Promise<number> {
    return this.#end('SIGKILL', 5000);
  }

  async #end(signal: NodeJS.Signals, waitMs: number): Promise<number> {
    this.#look();
    clearInterval(this.#looking);
    const exit = once(this.#child, 'exit');
    this.#child.kill(signal);
    const hasEnded = await Promise.race([exit.then(() => true), sleep(waitMs, false, { ref: false })]);
    this.#child.kill('SIGKILL');
    await exit;
    // The kernel notifies cells when their host exits; that takes a moment.
    for (let waited = 0; waited < 3000 && this.#alive().size > 0; waited += 100) await sleep(100);
    return this.#alive().size + (hasEnded ? 0 : 1);
  }

  #alive(): Set<number> {
    const all = [...this.#started.values(), ...membersOfGroups(this.pid)];
    return new Set(all.filter(isAlive).map(({ pid }) => pid));
  }

  #look(): void {
    this.memory.push(memoryOf(this.pid));
    for (const seen of descendantsOf(this.pid)) this.#started.set(seen.pid, seen);
  }
}

/** `skillcell audit verify` of the same home: true if the chain is intact. */
export function isChainIntact(folder: string): boolean {
  try {
    execFileSync(process.execPath, [COMMAND, 'audit', 'verify'], { env: envFor(folder), stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

function envFor(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, SKILLCELL_HOME: join(folder, 'home') };
}
