/**
 * Runs one of the engine's programs behind a wall with one writable folder, and kills it if it exceeds its limits.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import type { Grant, GrantedLimits } from '../../../policy/grant.ts';
import type { Mount, Wall } from '../../contract.ts';
import { LogCapture } from '../../protocol/log-capture.ts';
import { stageGuestCode } from './guest-code.ts';
import { findNode } from './node-binary.ts';
import { READS_RANDOM } from './serving-flags.ts';
import { nodeSpec } from './spec.ts';

const MIB = 1024 * 1024;

export const INSTALL_GRANT: Grant = {
  filesystem: [],
  network: [],
  env: {},
  syscalls: 'default',
  limits: {
    // CPU time bounds the work; a busy machine may take long for it.
    timeout: 600_000,
    cpu: 120_000,
    memory: 1536 * MIB,
    output: MIB,
    processes: 0,
    scratch: 256 * MIB,
  },
  withheld: [],
};

export interface InstallerOptions {
  home: string;
  wall: Wall;
  /** Describes the output in error messages. */
  what?: string;
  /** Below `guest/wasm`, e.g. `python/install/main.js`. */
  entry?: string;
  /** Read-only mounts in addition to its own code. */
  reads?: Mount[];
  /** Called with every line of its standard output, which names a step of its work. */
  onStep?: ((step: string) => void) | undefined;
  /** Additional flags of Node. */
  flags?: readonly string[];
  /** Tightens the default limits. */
  limits?: Partial<GrantedLimits>;
}

/** The program gets the folders as arguments, the output folder first. */
export async function runInstaller(options: InstallerOptions, output: string): Promise<void> {
  const { home, wall, what = 'Python for Wasm', entry = 'python/install/main.js' } = options;
  const { reads = [], flags = [] } = options;
  const mounts = [{ host: output, guest: '/out', writable: true }, ...reads];
  const spec = nodeSpec({
    node: findNode(home),
    code: stageGuestCode(home, 'wasm'),
    entry,
    mounts,
    args: mounts.map(({ guest }) => guest),
    flags: ['--max-old-space-size=512', READS_RANDOM, ...flags],
  });
  const limits = { ...INSTALL_GRANT.limits, ...options.limits };
  const installer = wall.launch(spec, { ...INSTALL_GRANT, limits });
  const logs = new LogCapture(installer.logs, (total) => total > MIB && installer.kill('output'));
  logs.listen((chunk, stream) => {
    if (stream === 'stdout') for (const line of chunk.toString('utf8').split('\n')) options.onStep?.(line);
  });
  const deadline = setTimeout(() => installer.kill('timeout'), limits.timeout);
  const exit = await installer.exited;
  clearTimeout(deadline);
  if (exit.code === 0) return;
  const said = logs.text().trim().split('\n');
  const reason = said.findLast((line) => /^\w*Error: /.test(line)) ?? said.at(-1) ?? '';
  throw new SkillError('internal', `${what} could not be prepared: ${installer.killReason ?? reason}`, {
    fix: 'Run `skillcell doctor`. If it finds no problem, report this with its output.',
    detail: { exit_code: exit.code, logs: logs.text() },
  });
}
