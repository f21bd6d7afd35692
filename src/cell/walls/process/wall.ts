/**
 * The wall `process`: an unprivileged Node process for machines without a jail. It has an empty environment, no inherited
 * descriptors, and Node's permission flags. It is only used as the outer wall of Wasm cells.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { realpathSync } from 'node:fs';
import type { Duplex, Readable } from 'node:stream';
import type { Grant } from '../../../policy/grant.ts';
import type {
  CellProcess,
  ExitInfo,
  KillReason,
  LaunchSpec,
  ProcessUsage,
  Wall,
  WallProbe,
} from '../../contract.ts';
import { inheritableDescriptors, withoutLeaks } from '../../linux/descriptors.ts';
import { cellIdentity, DEFAULT_CELL_ID } from '../../linux/identity.ts';
import { privateBytes } from '../../linux/private-memory.ts';
import { Watchdog } from '../../linux/watchdog.ts';
import { RunningProcesses } from '../../linux/running-processes.ts';
import { processEnforcement } from './enforcement.ts';
import { readUsage } from './usage.ts';

export class ProcessWall implements Wall {
  readonly name = 'process';
  readonly #leaks = inheritableDescriptors();
  readonly #running = new RunningProcesses();

  async probe(): Promise<WallProbe> {
    const summary = `Node ${process.version} with permission flags, no namespaces`;
    return { available: true, summary, enforces: processEnforcement() };
  }

  accepts(): void {
    // The grant does not concern this wall: the broker handles files and network.
  }

  launch(spec: LaunchSpec, grant: Grant): CellProcess {
    const [program = '', ...args] = spec.argv.map((arg) => toHostPath(arg, spec));
    const child = withoutLeaks(['ignore', 'pipe', 'pipe', 'pipe'], this.#leaks, (stdio) =>
      spawn(program, args, {
        env: spec.env,
        cwd: '/',
        stdio,
        ...this.identity(grant),
      }),
    );
    const started = new PlainProcess(child, grant);
    this.#running.add(started, started.exited);
    return started;
  }

  identity(grant: Grant): { uid: number; gid: number } | undefined {
    return cellIdentity({ ...grant, filesystem: [] }, DEFAULT_CELL_ID);
  }

  async close(): Promise<void> {
    await this.#running.end();
  }
}

/** Arguments contain guest paths of a jail; without mounts they are replaced by host paths. */
function toHostPath(arg: string, spec: LaunchSpec): string {
  for (const { host, guest } of spec.mounts) {
    const at = arg.indexOf(guest);
    const rest = arg.slice(at + guest.length);
    const before = arg.slice(0, Math.max(0, at));
    if (at >= 0 && (before === '' || before.endsWith('=')) && (rest === '' || rest.startsWith('/'))) {
      // Node checks permissions on real paths.
      return `${before}${realpathSync(host)}${rest}`;
    }
  }
  return arg;
}

class PlainProcess implements CellProcess {
  readonly channel: Duplex;
  readonly logs: Readable[];
  readonly exited: Promise<ExitInfo>;
  readonly #child: ChildProcess;
  readonly #grant: Grant;
  readonly #watchdog: Watchdog;
  #usage: ProcessUsage = { cpuMs: 0, memoryPeakBytes: 0 };
  #hasExited = false;
  #killReason: KillReason | undefined;

  constructor(child: ChildProcess, grant: Grant) {
    this.#child = child;
    this.#grant = grant;
    this.channel = child.stdio[3] as Duplex;
    this.logs = [child.stdout, child.stderr].filter((stream) => stream !== null);
    this.#watchdog = new Watchdog({
      exceeded: () => this.#exceeded(),
      kill: (reason) => this.kill(reason),
    });
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(this.#onExit({ code, signal })));
      child.once('error', () => resolve(this.#onExit({ code: null, signal: null })));
    });
  }

  get killReason(): KillReason | undefined {
    return this.#killReason;
  }

  /** The watchdog runs from the start, and there is nothing else to set up. */
  async confine(): Promise<boolean> {
    return !this.#hasExited;
  }

  kill(reason: KillReason): void {
    this.#killReason ??= reason;
    this.#child.kill('SIGKILL');
  }

  usage(): ProcessUsage {
    const now = this.#hasExited ? undefined : readUsage(this.#child.pid);
    if (now) {
      const memoryPeakBytes = Math.max(this.#usage.memoryPeakBytes, now.memoryBytes);
      this.#usage = { cpuMs: now.cpuMs, memoryPeakBytes };
    }
    return this.#usage;
  }

  rest(isResting: boolean): void {
    this.#watchdog.rest(isResting);
  }

  privateBytes(): number | undefined {
    return privateBytes(this.#child.pid);
  }

  #exceeded(): 'memory' | 'cpu' | undefined {
    const { cpuMs, memoryPeakBytes } = this.usage();
    if (memoryPeakBytes > this.#grant.limits.memory) return 'memory';
    return cpuMs > this.#grant.limits.cpu ? 'cpu' : undefined;
  }

  #onExit(exit: ExitInfo): ExitInfo {
    this.#hasExited = true;
    this.#watchdog.stop();
    return exit;
  }
}
