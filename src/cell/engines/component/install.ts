/**
 * Turns a hostile binary into a plan and metered modules, in a process that can be killed, once per binary.
 *
 * @module
 */
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../../../errors.ts';
import { publish } from '../../../load/publish.ts';
import type { Grant, GrantedLimits } from '../../../policy/grant.ts';
import type { CellProcess, Wall } from '../../contract.ts';
import { cellIdentity, DEFAULT_CELL_ID } from '../../linux/identity.ts';
import { startWatchdog } from '../../linux/watchdog.ts';
import { LogCapture } from '../../protocol/log-capture.ts';
import type { NodeBinary } from '../node-process/node-binary.ts';
import { nodeSpec } from '../node-process/spec.ts';
import { markInUse } from '../node-process/staged-folders.ts';
import { makeReadable } from '../../linux/readable.ts';

const MIB = 1024 * 1024;
const REFUSED_EXIT = 3;
const MAX_PLAN_BYTES = 64 * MIB;
const MAX_REFUSAL_BYTES = 64 * 1024;
const OUTPUT_NAME = /^(?:plan\.json|\d{1,6}\.wasm)$/;
const INSTALL_GRANT: Grant = {
  filesystem: [],
  network: [],
  env: {},
  syscalls: 'default',
  limits: { timeout: 20_000, cpu: 20_000, memory: 1024 * MIB, output: MIB, processes: 0, scratch: 256 * MIB },
  withheld: [],
};

/** The parts of a plan that the host reads; the rest is for the cell. */
interface PlanFacts {
  version: 1;
  format: 'component' | 'command';
  entry: 'execute' | 'run' | '_start';
  imports: string[];
}

const planSchema: z.ZodType<PlanFacts> = z.object({
  version: z.literal(1),
  format: z.enum(['component', 'command']),
  entry: z.enum(['execute', 'run', '_start']),
  imports: z.array(z.string().max(1024)).max(10_000),
});

const refusalSchema = z.object({ message: z.string().max(2000), offset: z.number().optional() });

export interface InstallOptions {
  home: string;
  /** Node and the folder with the staged guest code. */
  guest: { node: NodeBinary; code: string };
  wall: Wall;
  stagedDir: string;
  /** Path of the binary inside the bundle. */
  file: string;
  /** sha256 of the binary. */
  digest: string;
  maxPages: number;
  /** Tightens the default limits of the installer. */
  limits?: Partial<GrantedLimits>;
}

export interface Installed {
  /** Folder with plan.json and the rewritten modules. */
  folder: string;
  plan: PlanFacts;
}

export async function installBinary(options: InstallOptions): Promise<Installed> {
  const { home, digest, guest } = options;
  // The key includes the installer's version, because its output may differ between versions.
  const folder = join(home, 'wasm', `${digest}-${basename(guest.code)}`);
  if (existsSync(folder)) markInUse(folder);
  else await publish(folder, (draft) => install(options, draft), { keepsExisting: true });
  return { folder, plan: planSchema.parse(readJson(join(folder, 'plan.json'), MAX_PLAN_BYTES)) };
}

function readJson(file: string, maxBytes: number): unknown {
  const stat = lstatSync(file);
  if (!stat.isFile() || stat.size > maxBytes)
    throw new Error(`"${basename(file)}" is not a regular file or too large`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

async function install(options: InstallOptions, draft: string): Promise<void> {
  const output = `${draft}.output`;
  mkdirSync(dirname(output), { recursive: true });
  mkdirSync(output, { mode: 0o700 });
  const identity = cellIdentity(INSTALL_GRANT, DEFAULT_CELL_ID);
  if (identity) chownSync(output, identity.uid, identity.gid);
  try {
    await runInstaller(options, output);
    takeOver(output, draft);
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

/** Copies only the expected output files: the installer has read hostile bytes, and could have left links. */
function takeOver(output: string, draft: string): void {
  mkdirSync(draft);
  for (const name of readdirSync(output)) {
    const file = join(output, name);
    if (!OUTPUT_NAME.test(name) || !lstatSync(file).isFile())
      throw new SkillError('internal', `The installer wrote an unexpected file: "${name}"`, {
        fix: 'Do not use this bundle, and report it to the Skillcell maintainers.',
      });
    // Written rather than copied, because a copy would keep the owner.
    writeFileSync(join(draft, name), readFileSync(file));
  }
  makeReadable(draft);
}

async function runInstaller(options: InstallOptions, draft: string): Promise<void> {
  const { guest, wall, stagedDir, file, maxPages } = options;
  const limits = { ...INSTALL_GRANT.limits, ...options.limits };
  const spec = nodeSpec({
    ...guest,
    entry: 'install/main.js',
    mounts: [
      { host: stagedDir, guest: '/skill' },
      { host: draft, guest: '/out', writable: true },
    ],
    args: [`/skill/${file}`, '/out', String(maxPages)],
    flags: ['--max-old-space-size=512'],
  });
  const installer = wall.launch(spec, { ...INSTALL_GRANT, limits });
  const logs = new LogCapture(installer.logs, (total) => {
    if (total > limits.output) installer.kill('output');
  });
  const stopWatch = watch(installer, limits);
  const exit = await installer.exited;
  stopWatch();
  if (exit.code === 0 && installer.killReason === undefined) return;
  if (exit.code === REFUSED_EXIT) throw refused(file, draft);
  const errorLine = logs
    .text()
    .split('\n')
    .find((line) => /^\w*Error\b/.test(line));
  const reason = installer.killReason ?? errorLine ?? `exit code ${exit.code}`;
  throw new SkillError('manifest_invalid', `The binary "${file}" could not be installed: ${reason}`, {
    fix: 'Rebuild it with a supported toolchain; `skillcell build` uses one.',
    detail: { file, reason },
  });
}

/** Enforces the limits from the host, because an installer reports nothing before it is done. */
function watch(installer: CellProcess, { timeout, memory }: GrantedLimits): () => void {
  const deadline = setTimeout(() => installer.kill('timeout'), timeout);
  const stopWatchdog = startWatchdog({
    exceeded: () => (installer.usage().memoryPeakBytes > memory ? 'memory' : undefined),
    kill: (reason) => installer.kill(reason),
  });
  return () => {
    clearTimeout(deadline);
    stopWatchdog();
  };
}

function refused(file: string, draft: string): SkillError {
  const refusal = readJson(join(draft, 'refusal.json'), MAX_REFUSAL_BYTES);
  const { message, offset } = refusalSchema.parse(refusal);
  const where = offset === undefined ? '' : ` at byte ${offset}`;
  return new SkillError('manifest_invalid', `The binary "${file}" is refused${where}: ${message}`, {
    fix: 'Rebuild it with a supported toolchain; `skillcell build` uses one.',
    detail: { file, ...(offset === undefined ? {} : { offset }) },
  });
}
