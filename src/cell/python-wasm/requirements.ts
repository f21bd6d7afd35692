/**
 * Third-party packages for Python in Wasm: wheels of pure Python, which run anywhere. A package with native code has
 * none for this engine; that is found out once, at install time, and remembered.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Bundle } from '../../load/bundle.ts';
import type { Interpreter } from '../python/interpreter.ts';
import { installWheels, requirementsOfBundle } from '../python/requirements.ts';
import { PYODIDE } from './pyodide.ts';

const LANGUAGE = PYODIDE.python.split('.').slice(0, 2).join('.');
/** Any machine, this language, no native code. Bytecode of pip's own interpreter would be of no use. */
const PURE_PYTHON = [
  ...['--platform', 'any', '--implementation', 'py', '--abi', 'none'],
  ...['--python-version', LANGUAGE, '--no-compile'],
];

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
  if (existsSync(folder)) return { folder };
  const reason = readRefusal(folder);
  if (reason !== undefined) return { refusal: `${reason}; the modes subprocess and container can run them` };
  const list = requirements.join(', ');
  return {
    refusal: `its requirements (${list}) are not installed for Wasm, which "skillcell install ${options.bundle.sourceDir}" does`,
  };
}

/** Fetches the packages; returns why that is impossible, if it is. */
export async function installWasmEnvironment(
  { home, bundle }: WasmEnvironmentOptions,
  interpreter: Interpreter,
): Promise<string | undefined> {
  const requirements = requirementsOfBundle(bundle);
  if (requirements.length === 0) return undefined;
  const folder = folderFor(home, requirements);
  try {
    await installWheels({ interpreter, requirements, folder, pipOptions: PURE_PYTHON });
    return undefined;
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return `not all of its requirements are pure Python: ${cause}`;
  }
}

/** Keeps the reason for later calls. Only for one that would be the same next time. */
export function rememberRefusal({ home, bundle }: WasmEnvironmentOptions, reason: string): void {
  const file = refusalFile(folderFor(home, requirementsOfBundle(bundle)));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, reason);
}

function folderFor(home: string, requirements: string[]): string {
  const key = createHash('sha256').update(JSON.stringify(['python-wasm', LANGUAGE, requirements]));
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
