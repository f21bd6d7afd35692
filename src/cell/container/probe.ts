/**
 * Finds out whether a make of container can be had here, by starting one.
 *
 * @module
 */
import type { EnforcementTable } from '../../policy/enforcement.ts';
import type { Grant } from '../../policy/grant.ts';
import type { CellProcess, LaunchSpec, WallProbe } from '../contract.ts';
import { nothingEnforced } from '../jail/enforcement.ts';
import { LogCapture } from '../log-capture.ts';

const PROBE_TIMEOUT_MS = 15_000;
const MIB = 1024 * 1024;
/** The system's own program stands for the image: there may be none yet. */
const SPEC: LaunchSpec = { argv: ['/usr/bin/true'], mounts: [], env: {}, cwd: '/' };
const GRANT: Grant = {
  filesystem: [],
  network: [],
  env: {},
  syscalls: 'default',
  limits: { timeout: PROBE_TIMEOUT_MS, cpu: 5000, memory: 64 * MIB, output: MIB, processes: 0, scratch: MIB },
  withheld: [],
};

export interface Trial {
  launch: (spec: LaunchSpec, grant: Grant) => CellProcess;
  /** Name, version and findings, for `doctor`. */
  summary: string;
  enforces: EnforcementTable;
  fix: string;
}

export async function tryMake({ launch, summary, enforces, fix }: Trial): Promise<WallProbe> {
  const failure = await failureOf(launch);
  if (failure === undefined) return { available: true, summary, enforces };
  return unavailable(`${summary}: it cannot start a container here: ${failure}`, fix);
}

export function unavailable(summary: string, fix: string): WallProbe {
  return { available: false, summary, fix, enforces: nothingEnforced(summary) };
}

/** Undefined when a program ran in a container and came back; else what was said. */
async function failureOf(launch: Trial['launch']): Promise<string | undefined> {
  try {
    const cell = launch(SPEC, GRANT);
    cell.channel.on('error', () => undefined).resume();
    const logs = new LogCapture(cell.logs, () => undefined);
    const deadline = setTimeout(() => cell.kill('timeout'), PROBE_TIMEOUT_MS);
    const exit = await cell.exited;
    clearTimeout(deadline);
    await logs.settle();
    if (exit.code === 0) return undefined;
    return logs.text().trim().split('\n').at(-1) || `exit code ${exit.code}, signal ${exit.signal}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
