/**
 * Turns a hostile binary into a plan and metered modules, in a process that can be killed, once per binary.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../../errors.ts';
import type { Grant } from '../../policy/grant.ts';
import type { Wall } from '../contract.ts';
import { cellIdentity, DEFAULT_CELL_ID } from '../jail/identity.ts';
import { LogCapture } from '../log-capture.ts';
import { stageGuestCode } from '../node/guest-code.ts';
import { findNode } from '../node/node-binary.ts';
import { nodeSpec } from '../node/spec.ts';
import { makeReadable } from '../readable.ts';

const MIB = 1024 * 1024;
const REFUSED_EXIT = 3;
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
  wall: Wall;
  stagedDir: string;
  /** Path of the binary inside the bundle. */
  file: string;
  /** sha256 of the binary. */
  digest: string;
  maxPages: number;
}

export interface Installed {
  /** Folder with plan.json and the rewritten modules. */
  folder: string;
  plan: PlanFacts;
}

export async function installBinary(options: InstallOptions): Promise<Installed> {
  const { home, digest } = options;
  const code = stageGuestCode(home, 'wasm');
  const folder = join(home, 'wasm', `${digest}-${basename(code)}`);
  if (!existsSync(folder)) await install(options, { code, folder });
  return { folder, plan: planSchema.parse(JSON.parse(readFileSync(join(folder, 'plan.json'), 'utf8'))) };
}

async function install(
  options: InstallOptions,
  { code, folder }: { code: string; folder: string },
): Promise<void> {
  const draft = `${folder}.${randomBytes(6).toString('hex')}`;
  mkdirSync(dirname(draft), { recursive: true });
  mkdirSync(draft, { mode: 0o700 });
  const identity = cellIdentity(INSTALL_GRANT, DEFAULT_CELL_ID);
  if (identity) chownSync(draft, identity.uid, identity.gid);
  try {
    await runInstaller(options, { code, draft });
    makeReadable(draft);
    renameSync(draft, folder);
  } catch (error) {
    // Another process may have been faster with the same binary.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function runInstaller(
  options: InstallOptions,
  { code, draft }: { code: string; draft: string },
): Promise<void> {
  const { home, wall, stagedDir, file, maxPages } = options;
  const spec = nodeSpec({
    node: findNode(home),
    code,
    entry: 'install/main.js',
    mounts: [
      { host: stagedDir, guest: '/skill' },
      { host: draft, guest: '/out', writable: true },
    ],
    args: [`/skill/${file}`, '/out', String(maxPages)],
    flags: ['--max-old-space-size=512'],
  });
  const installer = wall.launch(spec, INSTALL_GRANT);
  const logs = new LogCapture(installer.logs, (total) => total > MIB && installer.kill('output'));
  const deadline = setTimeout(() => installer.kill('timeout'), INSTALL_GRANT.limits.timeout);
  const exit = await installer.exited;
  clearTimeout(deadline);
  if (exit.code === 0) return;
  if (exit.code === REFUSED_EXIT) throw refused(file, draft);
  const reason = installer.killReason ?? (logs.text().trim().split('\n').at(-1) || `exit code ${exit.code}`);
  throw new SkillError('manifest_invalid', `The binary "${file}" could not be installed: ${reason}`, {
    fix: 'Rebuild it with a supported toolchain; `skillcell build` uses one.',
    detail: { file, reason },
  });
}

function refused(file: string, draft: string): SkillError {
  const text = readFileSync(join(draft, 'refusal.json'), 'utf8');
  const { message, offset } = refusalSchema.parse(JSON.parse(text));
  const where = offset === undefined ? '' : ` at byte ${offset}`;
  return new SkillError('manifest_invalid', `The binary "${file}" is refused${where}: ${message}`, {
    fix: 'Rebuild it with a supported toolchain; `skillcell build` uses one.',
    detail: { file, ...(offset === undefined ? {} : { offset }) },
  });
}
