/**
 * Turns a hostile binary into a plan and metered modules, in a process that can be killed, once per binary.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../../errors.ts';
import type { Grant, GrantedLimits } from '../../policy/grant.ts';
import type { CellProcess, Wall } from '../contract.ts';
import { cellIdentity, DEFAULT_CELL_ID } from '../jail/identity.ts';
import { startWatchdog } from '../jail/watchdog.ts';
import { LogCapture } from '../log-capture.ts';
import type { NodeBinary } from '../node/node-binary.ts';
import { nodeSpec } from '../node/spec.ts';
import { markInUse } from '../node/staged-folders.ts';
import { makeReadable } from '../readable.ts';

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

/** The parts of a plan that the host looks at; the rest is for the cell. */
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
  /** What runs inside of cells: the program, and the folder of the staged guest code. */
  guest: { node: NodeBinary; code: string };
  wall: Wall;
  stagedDir: string;
  /** Path of the binary inside the bundle. */
  file: string;
  /** sha256 of the binary. */
  digest: string;
  maxPages: number;
  /** Lowers what the installer may use. */
  limits?: Partial<GrantedLimits>;
}

export interface Installed {
  /** Folder with plan.json and the rewritten modules. */
  folder: string;
  plan: PlanFacts;
}

export async function installBinary(options: InstallOptions): Promise<Installed> {
  const { home, digest, guest } = options;
  // Another version of the installer may make something else of the same binary.
  const folder = join(home, 'wasm', `${digest}-${basename(guest.code)}`);
  if (existsSync(folder)) markInUse(folder);
  else await install(options, folder);
  return { folder, plan: planSchema.parse(readJson(join(folder, 'plan.json'), MAX_PLAN_BYTES)) };
}

function readJson(file: string, maxBytes: number): unknown {
  const stat = lstatSync(file);
  if (!stat.isFile() || stat.size > maxBytes) throw new Error(`"${basename(file)}" is not what it has to be`);
  return JSON.parse(readFileSync(file, 'utf8'));
}

async function install(options: InstallOptions, folder: string): Promise<void> {
  const draft = `${folder}.${randomBytes(6).toString('hex')}`;
  const verified = `${draft}.verified`;
  mkdirSync(dirname(draft), { recursive: true });
  mkdirSync(draft, { mode: 0o700 });
  const identity = cellIdentity(INSTALL_GRANT, DEFAULT_CELL_ID);
  if (identity) chownSync(draft, identity.uid, identity.gid);
  try {
    await runInstaller(options, draft);
    takeOver(draft, verified);
    renameSync(verified, folder);
  } catch (error) {
    // Another process may have been faster with the same binary.
    if (!existsSync(folder)) throw error;
  } finally {
    for (const made of [draft, verified]) rmSync(made, { recursive: true, force: true });
  }
}

/** Copies what the installer may have written, and nothing else: it has seen hostile bytes, and could leave links. */
function takeOver(draft: string, verified: string): void {
  mkdirSync(verified);
  for (const name of readdirSync(draft)) {
    const file = join(draft, name);
    if (!OUTPUT_NAME.test(name) || !lstatSync(file).isFile())
      throw new SkillError('internal', `The installer left "${name}", which is none of its files`, {
        fix: 'Do not use this bundle, and please report it.',
      });
    // Not copied as a file, which would keep its owner.
    writeFileSync(join(verified, name), readFileSync(file));
  }
  makeReadable(verified);
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
  const said = logs
    .text()
    .split('\n')
    .find((line) => /^\w*Error\b/.test(line));
  const reason = installer.killReason ?? said ?? `exit code ${exit.code}`;
  throw new SkillError('manifest_invalid', `The binary "${file}" could not be installed: ${reason}`, {
    fix: 'Rebuild it with a supported toolchain; `skillcell build` uses one.',
    detail: { file, reason },
  });
}

/** An installer says nothing before it is done, so the limits are kept from here, whatever the wall does. */
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
