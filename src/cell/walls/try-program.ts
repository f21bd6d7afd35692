/**
 * Probes a wall by running a program inside it, instead of guessing from what is installed.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import type { Grant } from '../../policy/grant.ts';
import type { CellProcess, LaunchSpec, WallProbe } from '../contract.ts';
import { nothingEnforced } from './jail/enforcement.ts';
import { LogCapture } from '../protocol/log-capture.ts';

const MIB = 1024 * 1024;
/** A program of the system, because no engine may be installed yet. */
const SPEC: LaunchSpec = { argv: ['/usr/bin/true'], mounts: [], env: {}, cwd: '/' };
const GRANT: Omit<Grant, 'limits'> = {
  filesystem: [],
  network: [],
  env: {},
  syscalls: 'default',
  withheld: [],
};
const LIMITS = { cpu: 5000, memory: 64 * MIB, output: MIB, processes: 0, scratch: MIB };

export type Launch = (spec: LaunchSpec, grant: Grant) => CellProcess;

export interface ProbeFailure {
  /** Error output of the program. */
  reason: string;
  /** It says nothing about the wall, only that the machine is busy. */
  isTemporary: boolean;
}

/** Undefined if the program ran successfully. */
export async function probeFailure(launch: Launch, timeout: number): Promise<ProbeFailure | undefined> {
  try {
    const cell = launch(SPEC, { ...GRANT, limits: { ...LIMITS, timeout } });
    cell.channel.on('error', () => undefined).resume();
    const logs = new LogCapture(cell.logs, () => undefined);
    const deadline = setTimeout(() => cell.kill('timeout'), timeout);
    const exit = await cell.exited;
    clearTimeout(deadline);
    await logs.settle();
    if (exit.code === 0) return undefined;
    if (cell.killReason === 'timeout')
      return { reason: `it did not start within ${timeout / 1000} s`, isTemporary: true };
    const reason = logs.text().trim() || `exit code ${exit.code}, signal ${exit.signal}`;
    return { reason, isTemporary: false };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { reason, isTemporary: error instanceof SkillError && error.detail['limit'] === 'busy' };
  }
}

/** Caches the first probe that is not temporary; probes at the same time share one. */
export class CachedProbe {
  readonly #run: () => Promise<WallProbe>;
  #probe: Promise<WallProbe> | undefined;

  constructor(run: () => Promise<WallProbe>) {
    this.#run = run;
  }

  async get(): Promise<WallProbe> {
    const probe = (this.#probe ??= this.#run());
    const found = await probe;
    if (found.isTemporary && this.#probe === probe) this.#probe = undefined;
    return found;
  }
}

/** The machine was too busy to probe the wall. */
export function busy(summary: string): WallProbe {
  const fix = 'The machine is busy. Try again when it is less busy.';
  return { ...unavailable(summary, fix), isTemporary: true };
}

export function unavailable(summary: string, fix: string): WallProbe {
  return { available: false, summary, fix, enforces: nothingEnforced(summary) };
}
