/**
 * Probes a wall by running a program inside it, instead of guessing from what is installed.
 *
 * @module
 */
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

/** Undefined if the program ran successfully, otherwise its error output. */
export async function probeFailure(launch: Launch, timeout: number): Promise<string | undefined> {
  try {
    const cell = launch(SPEC, { ...GRANT, limits: { ...LIMITS, timeout } });
    cell.channel.on('error', () => undefined).resume();
    const logs = new LogCapture(cell.logs, () => undefined);
    const deadline = setTimeout(() => cell.kill('timeout'), timeout);
    const exit = await cell.exited;
    clearTimeout(deadline);
    await logs.settle();
    if (exit.code === 0) return undefined;
    return logs.text().trim() || `exit code ${exit.code}, signal ${exit.signal}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function unavailable(summary: string, fix: string): WallProbe {
  return { available: false, summary, fix, enforces: nothingEnforced(summary) };
}
