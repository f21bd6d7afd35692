/**
 * Git in a jail without network, files or rights: it unpacks what a server sent, and answers questions about its objects. A
 * pack is compressed and full of references into itself, so it is unpacked by git, but never outside of the jail.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { SkillError } from '../../errors.ts';
import { quote, shortLine } from '../../manifest/quote.ts';
import { readLayout } from '../../cell/walls/jail/arguments.ts';
import { ChunkReader } from '../archives/chunks.ts';
import { interrupted } from '../http/problems.ts';
import { MAX_PACK_BYTES } from './upload-pack.ts';

const BWRAP = '/usr/bin/bwrap';
const GIT = '/usr/bin/git';
const PRLIMIT = '/usr/bin/prlimit';
/** The pack and its index. */
const SCRATCH_BYTES = MAX_PACK_BYTES + 64 * 1024 ** 2;
const MEMORY_BYTES = 2 * 1024 ** 3;
const CPU_SECONDS = 120;
const DEADLINE_MS = 180_000;
/** For git to notice that nobody asks it anything more. */
const END_MS = 2000;
const MAX_COMPLAINT = 4096;

const NAMESPACES = [
  '--unshare-user',
  '--unshare-all',
  '--disable-userns',
  '--die-with-parent',
  '--new-session',
];
const NOBODY = ['--uid', '65534', '--gid', '65534', '--cap-drop', 'ALL', '--hostname', 'git'];

/** No configuration of this machine or its users, and nothing that could start another program. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_ALLOW_PROTOCOL: '',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_OPTIONAL_LOCKS: '0',
};

/** The pack comes through its own descriptor, questions through stdin. Nothing is put into this text. */
const SCRIPT = `set -e
mkdir -p /repository/objects/pack /repository/refs
cd /repository
echo 'ref: refs/heads/none' > HEAD
cat <&4 >config
git --git-dir=. index-pack --stdin --fsck-objects --threads=1 <&3 >/dev/null
echo ready
exec git --git-dir=. cat-file --batch`;

const CONFIGS = {
  sha1: '[core]\n\trepositoryformatversion = 0\n\tbare = true\n',
  sha256: '[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n',
} as const;

export interface OpenOptions {
  /** Names the repository in messages. */
  what: string;
  format: keyof typeof CONFIGS;
  signal?: AbortSignal | undefined;
}

export interface GitObject {
  type: string;
  size: number;
  /** Undefined if it is larger than asked for. */
  bytes: Buffer | undefined;
}

/** Use it with `await using`: closing ends git. */
export class JailedGit implements AsyncDisposable {
  readonly #what: string;
  readonly #child: ChildProcess;
  readonly #output: ChunkReader;
  readonly #exited: Promise<void>;
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal | undefined;
  #complaint = '';
  #isLate = false;

  private constructor(what: string, child: ChildProcess, signal: AbortSignal | undefined) {
    this.#what = what;
    this.#signal = signal;
    this.#child = child;
    this.#output = new ChunkReader(child.stdout as Readable);
    child.stderr?.on(
      'data',
      (text: Buffer) => (this.#complaint = (this.#complaint + text.toString()).slice(0, MAX_COMPLAINT)),
    );
    this.#exited = new Promise((resolve) => {
      child.on('close', () => resolve());
      child.on('error', (error) => {
        this.#complaint += error.message;
        resolve();
      });
    });
    this.#timer = setTimeout(() => {
      this.#isLate = true;
      this.#kill();
    }, DEADLINE_MS);
    signal?.addEventListener('abort', this.#kill, { once: true });
  }

  /** Unpacks and verifies a pack. Throws `manifest_invalid` if it is damaged. */
  static async open(pack: Buffer, { what, format, signal }: OpenOptions): Promise<JailedGit> {
    if (signal?.aborted === true) throw interrupted(what);
    const missing = [BWRAP, GIT, PRLIMIT].find((program) => !existsSync(program));
    if (missing !== undefined) throw cannotRun(`${missing} is missing`);
    const stdio = ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] as const;
    // A group of its own, so that a jail that is still being set up ends as a whole.
    const options = { stdio: [...stdio], env: {}, cwd: '/', detached: true };
    const child = spawn(BWRAP, jailOf(), options);
    const git = new JailedGit(what, child, signal);
    try {
      await git.#start(pack, CONFIGS[format]);
      return git;
    } catch (error) {
      await git[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Undefined if there is no such object. */
  async read(oid: string, most: number): Promise<GitObject | undefined> {
    (this.#child.stdin as Writable).write(`${oid}\n`);
    const [name, type = '', length] = (await this.#line()).split(' ');
    if (type === 'missing') return undefined;
    const size = Number(length);
    if (name !== oid || !Number.isSafeInteger(size)) throw this.#broken();
    if (size > most) return { type, size, bytes: undefined };
    const bytes = await this.#output.read(size);
    if (bytes.length < size || (await this.#output.skip(1)) < 1) throw this.#broken();
    return { type, size, bytes };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#kill);
    // At the end of its questions git ends by itself, and its jail reaps it.
    for (const pipe of this.#child.stdio) pipe?.destroy();
    const timer = setTimeout(this.#kill, END_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  readonly #kill = (): void => {
    const { pid, exitCode, signalCode } = this.#child;
    // After its end, the number may belong to another group.
    if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, 'SIGKILL');
  };

  async #start(pack: Buffer, config: string): Promise<void> {
    const [stdin, , , packs, configs] = this.#child.stdio as unknown as Writable[];
    // Git may end before it has read everything; what it says then counts.
    for (const pipe of [stdin, packs, configs]) pipe?.on('error', () => undefined);
    configs?.end(config);
    packs?.end(pack);
    if ((await this.#line()) !== 'ready') throw this.#broken();
  }

  /** A line of at most 200 bytes. */
  async #line(): Promise<string> {
    let line = '';
    for (let length = 0; length < 200; length++) {
      const byte = await this.#output.read(1);
      if (byte.length === 0) {
        await this.#exited;
        throw this.#broken();
      }
      if (byte[0] === 0x0a) return line;
      line += byte.toString('latin1');
    }
    throw this.#broken();
  }

  #broken(): SkillError {
    if (this.#signal?.aborted === true) return interrupted(this.#what);
    const said = shortLine(this.#complaint.trim());
    if (/bwrap|namespace|prlimit/i.test(said)) return cannotRun(said);
    const reason = this.#isLate
      ? `unpacking took longer than ${DEADLINE_MS / 1000} s`
      : `git says ${quote(said)}`;
    return new SkillError('manifest_invalid', `The bytes of ${this.#what} are refused: ${reason}`, {
      fix: 'Ask the owner of the repository to check it with `git fsck`.',
      detail: { reason, said },
    });
  }
}

function cannotRun(reason: string): SkillError {
  return new SkillError(
    'unenforceable',
    `Git cannot unpack a repository in a sandbox on this machine: ${reason}`,
    {
      fix: 'Install bubblewrap, git and util-linux, or use another source, such as github: or an archive.',
      detail: { reason },
    },
  );
}

function jailOf(): string[] {
  return [
    ...NAMESPACES,
    ...NOBODY,
    '--clearenv',
    ...Object.entries(ENVIRONMENT).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--ro-bind', '/usr', '/usr', ...readLayout().system, '--proc', '/proc', '--dev', '/dev'],
    ...[
      '--size',
      String(SCRATCH_BYTES),
      '--tmpfs',
      '/repository',
      '--remount-ro',
      '/',
      '--chdir',
      '/repository',
    ],
    ...[PRLIMIT, `--cpu=${CPU_SECONDS}`, `--as=${MEMORY_BYTES}`, '--nproc=64', '--core=1:1', '--nofile=128'],
    ...[`--fsize=${SCRATCH_BYTES}`, '/bin/sh', '-c', SCRIPT],
  ];
}
