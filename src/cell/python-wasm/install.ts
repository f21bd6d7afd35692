/**
 * Makes the engine ready on first use: the rewritten module, the compiled standard library and the base image, in a
 * process that can be killed. Kept by digest and shared by all skills.
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { SkillError } from '../../errors.ts';
import { packageRoot } from '../../package-root.ts';
import type { Grant } from '../../policy/grant.ts';
import type { Wall } from '../contract.ts';
import { cellIdentity, DEFAULT_CELL_ID } from '../jail/identity.ts';
import { LogCapture } from '../log-capture.ts';
import { stageGuestCode } from '../node/guest-code.ts';
import { findNode } from '../node/node-binary.ts';
import { nodeSpec } from '../node/spec.ts';
import { makeReadable } from '../readable.ts';
import { PYODIDE, readPyodide } from './pyodide.ts';
import { readEngineSources, type EngineSources } from './sources.ts';

const MIB = 1024 * 1024;
const SLOW_MS = 1000;
const INSTALL_GRANT: Grant = {
  filesystem: [],
  network: [],
  env: {},
  syscalls: 'default',
  limits: {
    timeout: 180_000,
    cpu: 120_000,
    memory: 1536 * MIB,
    output: MIB,
    processes: 0,
    scratch: 256 * MIB,
  },
  withheld: [],
};

export interface EngineInstallOptions {
  home: string;
  wall: Wall;
  /** Gets a sentence for people when it takes more than a moment. */
  onProgress?: ((text: string) => void) | undefined;
}

/** Folder of the engine; made when it is missing. */
export async function installEngine(options: EngineInstallOptions): Promise<string> {
  const sources = readEngineSources();
  const folder = join(options.home, 'python-wasm', engineKey(sources));
  if (existsSync(folder)) return folder;
  const notice = setTimeout(() => {
    options.onProgress?.('Preparing Python for Wasm, once: this takes some seconds.');
  }, SLOW_MS);
  try {
    await install(options, folder, sources);
  } finally {
    clearTimeout(notice);
  }
  return folder;
}

/** Everything that the image depends on. */
function engineKey(sources: EngineSources): string {
  const code = join(packageRoot(), 'guest', 'wasm', 'python');
  const hash = createHash('sha256').update(JSON.stringify([process.version, PYODIDE, sources]));
  const files = readdirSync(code, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  for (const name of files.toSorted()) hash.update(`${name}\0`).update(readFileSync(join(code, name)));
  return hash.digest('hex').slice(0, 32);
}

async function install(options: EngineInstallOptions, folder: string, sources: EngineSources): Promise<void> {
  const draft = `${folder}.${randomBytes(6).toString('hex')}`;
  try {
    writeInput(draft, sources);
    await runInstaller(options, draft);
    rmSync(join(draft, 'input'), { recursive: true });
    makeReadable(draft);
    renameSync(draft, folder);
  } catch (error) {
    // Another process may have been faster.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function writeInput(draft: string, sources: EngineSources): void {
  const input = join(draft, 'input');
  const { engine, library } = readPyodide();
  mkdirSync(dirname(draft), { recursive: true });
  mkdirSync(draft, { mode: 0o700 });
  mkdirSync(input);
  writeFileSync(join(input, 'engine.wasm'), engine);
  writeFileSync(join(input, 'library.zip'), library);
  writeFileSync(join(input, 'input.json'), JSON.stringify({ sha256: PYODIDE.sha256, sources }));
  makeReadable(input);
  const identity = cellIdentity(INSTALL_GRANT, DEFAULT_CELL_ID);
  if (identity) chownSync(draft, identity.uid, identity.gid);
}

async function runInstaller({ home, wall }: EngineInstallOptions, draft: string): Promise<void> {
  const spec = nodeSpec({
    node: findNode(home),
    code: stageGuestCode(home, 'wasm'),
    entry: 'python/install/main.js',
    mounts: [{ host: draft, guest: '/out', writable: true }],
    args: ['/out'],
    flags: ['--max-old-space-size=512'],
  });
  const installer = wall.launch(spec, INSTALL_GRANT);
  const logs = new LogCapture(installer.logs, (total) => total > MIB && installer.kill('output'));
  const deadline = setTimeout(() => installer.kill('timeout'), INSTALL_GRANT.limits.timeout);
  const exit = await installer.exited;
  clearTimeout(deadline);
  if (exit.code === 0) return;
  const said = logs.text().trim().split('\n');
  const reason = said.findLast((line) => line.startsWith('Error: ')) ?? said.at(-1) ?? '';
  throw new SkillError(
    'internal',
    `Python for Wasm could not be prepared: ${installer.killReason ?? reason}`,
    {
      fix: 'Run `skillcell doctor`; if it finds nothing, please report this with its output.',
      detail: { exit_code: exit.code, logs: logs.text() },
    },
  );
}
