/**
 * The real command `serve` with its home on a small separate disk, for the suites in this folder. The disk is a tmpfs in the
 * service's own mount namespace; the tests reach it through `/proc`.
 *
 * @module
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeToken } from '../../src/http/access-file.ts';
import { expect } from 'vitest';
import { packageRoot } from '../../src/inside.ts';
import type { Outcome } from '../../src/index.ts';

export interface ServiceOptions {
  folder: string;
  /** Size of the tmpfs in mount syntax; absent: the home is an ordinary folder. */
  disk?: string;
  /** The disk is full when the service starts. */
  startsFull?: boolean;
  args?: string[];
  /** Additional environment variables for the service. */
  env?: Readonly<Record<string, string>>;
  /** Additional environment variables for the service's process only, not for the programs that start it. */
  ownEnv?: Readonly<Record<string, string>>;
  /** Replacements for programs of the machine, by path. */
  programs?: Readonly<Record<string, string>>;
}

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

export class ChaosService implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly home: string;
  readonly #url: string;
  readonly #token: string;
  readonly #exited: Promise<unknown>;

  private constructor(child: ChildProcess, home: string, address: { url: string; token: string }) {
    this.child = child;
    this.home = home;
    this.#url = address.url;
    this.#token = address.token;
    this.#exited = once(child, 'exit');
  }

  static async start(options: ServiceOptions): Promise<ChaosService> {
    const { folder, disk, startsFull = false, args = [], env = {}, ownEnv = {}, programs = {} } = options;
    const home = join(folder, 'home');
    const access = join(folder, 'access.json');
    const { entry, secret } = makeToken({ name: 'chaos', tenant: 'chaos', scopes: ['admin'] });
    writeFileSync(access, JSON.stringify({ version: 1, tokens: [entry] }), { mode: 0o600 });
    mkdirSync(home, { recursive: true, mode: 0o755 });
    const command = [
      process.execPath,
      join(packageRoot(), 'bin/skillcell.js'),
      'serve',
      '--port',
      '0',
      '--access',
      access,
      ...args,
    ];
    const mounted = disk === undefined ? '' : `mount -t tmpfs -o size=${disk},mode=0755 tmpfs "$0" && `;
    const filled = startsFull ? 'cat /dev/zero > "$0/filler" 2> /dev/null; ' : '';
    const replaced = Object.entries(programs).map(([path, other]) => `mount --bind "${other}" "${path}" && `);
    const assigned = Object.entries(ownEnv).map(([name, value]) => `"${name}=${value}"`);
    const script = `${mounted}${filled}${replaced.join('')}exec env ${assigned.join(' ')} "$@"`;
    const child = spawn('unshare', ['--mount', 'sh', '-c', script, home, ...command], {
      cwd: folder,
      env: { ...process.env, SKILLCELL_HOME: home, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stderr.resume();
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const url = /http:\S+/.exec(line.toString())?.[0] ?? '';
    return new ChaosService(child, home, { url, token: secret });
  }

  /** The home as the service sees it. */
  get inside(): string {
    return `/proc/${this.child.pid}/root${this.home}`;
  }

  async call(skill: string, params: unknown = {}): Promise<Answer> {
    return this.ask(`/v1/skills/${skill}/execute`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ params }),
    });
  }

  async ask(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await this.#fetch(path, init);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  async text(path: string): Promise<string> {
    return (await this.#fetch(path)).text();
  }

  #fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${this.#token}` };
    return fetch(`${this.#url}${path}`, { ...init, headers });
  }

  /** Waits until at least this many calls are in a cell, and returns the ids of all calls in progress. */
  async running(atLeast: number): Promise<string[]> {
    type Listed = { call_id: string; state: string };
    const list = async (): Promise<Listed[]> =>
      (await this.ask('/v1/calls?limit=0')).body['running'] as Listed[];
    const inCells = async (): Promise<number> =>
      (await list()).filter(({ state }) => state === 'running').length;
    await expect.poll(inCells).toBeGreaterThanOrEqual(atLeast);
    return (await list()).map(({ call_id }) => call_id);
  }

  /** Checks recovery after a fault: a good call works, the log is intact, every slot is free, and the service is ready. */
  async expectWell(skill: string, params: unknown = {}): Promise<void> {
    expect(codeOf(await this.call(skill, params)), 'the next good call').toBe('ok');
    expect((await this.ask('/readyz')).status, 'readyz').toBe(200);
    expect((await this.ask('/v1/receipts/verify')).body, 'the log').toMatchObject({ ok: true });
    await expect.poll(() => this.text('/metrics')).toMatch(/^skillcell_calls_running 0$/m);
    expect(await this.text('/metrics')).toMatch(/^skillcell_calls_waiting 0$/m);
  }

  /** Codes of all receipts by call id. Throws if a call has two. */
  async receipts(): Promise<Map<string, string>> {
    const { body } = await this.ask('/v1/receipts?limit=500');
    const found = new Map<string, string>();
    for (const { receipt } of body['receipts'] as { receipt: { call_id: string; code: string } }[]) {
      if (found.has(receipt.call_id)) throw new Error(`two receipts of ${receipt.call_id}`);
      found.set(receipt.call_id, receipt.code);
    }
    return found;
  }

  /** Fills the disk. */
  fill(): void {
    const fd = openSync(join(this.inside, 'filler'), 'a');
    for (let piece = Buffer.alloc(1 << 20); piece.length > 0;) {
      try {
        writeSync(fd, piece);
      } catch {
        piece = piece.subarray(0, piece.length >> 1);
      }
    }
    closeSync(fd);
  }

  makeRoom(): void {
    rmSync(join(this.inside, 'filler'));
  }

  openFiles(): number {
    return readdirSync(`/proc/${this.child.pid}/fd`).length;
  }

  /** Limits the open descriptors of the service. */
  limitFiles(most: number): void {
    execFileSync('prlimit', ['--pid', String(this.child.pid), `--nofile=${most}:`]);
  }

  /** Stops it like a supervisor does, and returns its exit code. */
  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM');
    await this.#exited;
    return this.child.exitCode;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.kill();
  }
}

export function codeOf({ body }: Answer): string {
  const outcome = body as unknown as Outcome;
  return outcome.ok ? 'ok' : outcome.error.code;
}
