/**
 * Third-party packages for Python in Wasm: wheels of pure Python, which run anywhere, and wheels whose native code was
 * built for this engine. A package that has neither is found out once, at install time, and remembered.
 *
 * @module
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Bundle } from '../../load/bundle.ts';
import type { PinnedPackages } from '../../load/pins.ts';
import { isWholeOrGone, packagesFolder, recordedPackages } from '../python/environment.ts';
import type { Interpreter } from '../python/interpreter.ts';
import { installCommand, requirementsOfBundle } from '../python/requirements.ts';
import { installWheels } from '../python/wheels.ts';
import { nativeCodeIn } from './native-code.ts';
import { installWithPureWheels } from './pure-wheels.ts';
import { PYODIDE } from './pyodide.ts';

const LANGUAGE = PYODIDE.python.split('.').slice(0, 2).join('.');
const ABI = `cp${LANGUAGE.replace('.', '')}`;
const THIS_LANGUAGE = ['--python-version', LANGUAGE];
/** Any machine, no native code. */
const PURE_PYTHON = [...THIS_LANGUAGE, '--platform', 'any', '--implementation', 'py', '--abi', 'none'];
/** The same, and native code for this engine. */
const THIS_ENGINE = [
  ...[...THIS_LANGUAGE, '--platform', PYODIDE.platform, '--platform', 'any', '--implementation', 'cp'],
  ...['--abi', ABI, '--abi', 'abi3', '--abi', 'none'],
];

/** That of pip's own interpreter would be of no use. */
const WITHOUT_BYTECODE = { compiles: false };

export interface WasmEnvironmentOptions {
  home: string;
  bundle: Bundle;
}

/** Where the packages of a bundle are, or why this engine cannot run it. Both are undefined when it needs none. */
export interface WasmEnvironment {
  folder?: string;
  refusal?: string;
}

export function wasmEnvironment(options: WasmEnvironmentOptions): WasmEnvironment {
  const requirements = requirementsOfBundle(options.bundle);
  if (requirements.length === 0) return {};
  const folder = folderFor(options.home, requirements);
  if (recordedPackages(folder)) return { folder: packagesFolder(folder) };
  const reason = readRefusal(folder);
  if (reason !== undefined) return { refusal: `${reason}; the modes subprocess and container can run them` };
  const list = requirements.join(', ');
  return {
    refusal: `its requirements (${list}) are not installed for Wasm, which \`${installCommand(options.bundle)}\` does`,
  };
}

/** Whether it was found out already if this engine can have the packages: they are there, or the reason why not is. */
export function isSettled({ home, bundle }: WasmEnvironmentOptions): boolean {
  const requirements = requirementsOfBundle(bundle);
  const folder = folderFor(home, requirements);
  return requirements.length === 0 || !!recordedPackages(folder) || readRefusal(folder) !== undefined;
}

/** What the requirements were resolved to; undefined when there are none, or they are not installed. */
export function wasmPackages({ home, bundle }: WasmEnvironmentOptions): PinnedPackages | undefined {
  const requirements = requirementsOfBundle(bundle);
  return requirements.length === 0 ? undefined : recordedPackages(folderFor(home, requirements));
}

export interface WasmInstallOptions extends WasmEnvironmentOptions {
  interpreter: Interpreter;
  /** Puts native code of the packages in this folder into an engine; throws when that is impossible. */
  link: (packages: string) => Promise<unknown>;
}

/** Fetches the packages; returns why that is impossible, if it is. */
export async function installWasmEnvironment(options: WasmInstallOptions): Promise<string | undefined> {
  const requirements = requirementsOfBundle(options.bundle);
  if (requirements.length === 0) return undefined;
  const folder = folderFor(options.home, requirements);
  if (await isWholeOrGone(folder)) return undefined;
  const draft = `${folder}.${randomBytes(6).toString('hex')}`;
  try {
    const { interpreter } = options;
    const wheels = { interpreter, requirements, folder: draft, target: THIS_ENGINE };
    await installWithPureWheels({ ...wheels, ...WITHOUT_BYTECODE });
    const hasNativeCode = nativeCodeIn(packagesFolder(draft)).length > 0;
    if (hasNativeCode && (await isPureToo({ interpreter, draft, folder }))) return undefined;
    if (hasNativeCode) await options.link(packagesFolder(draft));
    renameSync(draft, folder);
    return undefined;
  } catch (error) {
    // Another process may have been faster.
    if (existsSync(folder)) return undefined;
    const cause = error instanceof Error ? error.message : String(error);
    return `not all of its requirements are pure Python or have native code for it (${ABI}, ${PYODIDE.platform}): ${cause}`;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

interface PureOptions {
  interpreter: Interpreter;
  draft: string;
  folder: string;
}

/** Where the very same versions are there without native code, nothing has to be linked. */
async function isPureToo({ interpreter, draft, folder }: PureOptions): Promise<boolean> {
  const { packages = [] } = recordedPackages(draft) ?? {};
  const requirements = packages.map(({ name, version }) => `${name}==${version}`);
  return installWheels({ interpreter, requirements, folder, target: PURE_PYTHON, ...WITHOUT_BYTECODE }).then(
    () => true,
    () => false,
  );
}

/** Keeps the reason for later calls. Only for one that would be the same next time. */
export function rememberRefusal({ home, bundle }: WasmEnvironmentOptions, reason: string): void {
  const file = refusalFile(folderFor(home, requirementsOfBundle(bundle)));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, reason);
}

function folderFor(home: string, requirements: string[]): string {
  const key = createHash('sha256').update(
    JSON.stringify(['python-wasm', ABI, PYODIDE.platform, requirements]),
  );
  return join(home, 'environments', key.digest('hex').slice(0, 32));
}

function refusalFile(folder: string): string {
  return `${folder}.refused`;
}

function readRefusal(folder: string): string | undefined {
  try {
    return readFileSync(refusalFile(folder), 'utf8');
  } catch {
    return undefined;
  }
}
