/**
 * Third-party packages for Python in Wasm: pure Python wheels, which run anywhere, and wheels with native code built for
 * this engine. If a package has neither, that is found once, at install time, and remembered.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { SkillError } from '../../../errors.ts';
import type { Bundle } from '../../../load/bundle.ts';
import type { InstallHow } from '../../../load/install-progress.ts';
import { publish } from '../../../load/publish.ts';
import type { PinnedPackages } from '../../../load/pins.ts';
import { removeTree } from '../../../load/remove-tree.ts';
import { makeReadable } from '../../linux/readable.ts';
import { keepIfIntact, packagesFolder, recordedPackages, recordEnvironment } from '../python/environment.ts';
import type { Interpreter } from '../python/interpreter.ts';
import {
  findEnvironment,
  folderOf,
  installCommand,
  keepOnlyPinned,
  planInstall,
  requirementsOfBundle,
  type PackageTarget,
} from '../python/pinned-environment.ts';
import { installWheels } from '../python/wheels.ts';
import { nativeCodeIn } from './native-code.ts';
import { installWithPureWheels } from './pure-wheels.ts';
import { PYODIDE } from './pyodide.ts';

const LANGUAGE = PYODIDE.python.split('.').slice(0, 2).join('.');
const ABI = `cp${LANGUAGE.replace('.', '')}`;
const THIS_LANGUAGE = ['--python-version', LANGUAGE];
/** Wheels for any machine, without native code. */
const PURE_PYTHON = [...THIS_LANGUAGE, '--platform', 'any', '--implementation', 'py', '--abi', 'none'];
/** Also wheels with native code for this engine. */
const THIS_ENGINE = [
  ...[...THIS_LANGUAGE, '--platform', PYODIDE.platform, '--platform', 'any', '--implementation', 'cp'],
  ...['--abi', ABI, '--abi', 'abi3', '--abi', 'none'],
];

/** Pip would compile for its own interpreter, which is another version. */
const SHARED = { compiles: false, engine: 'python-wasm' } as const;

const TARGET: PackageTarget = {
  name: `python-wasm-${LANGUAGE}-${PYODIDE.platform}`,
  seed: ['python-wasm', ABI, PYODIDE.platform],
};
/** A function needs all of its requirements. A command of a folder with scripts needs those of its script. */
const TARGET_OF_SCRIPTS: PackageTarget = { ...TARGET, seed: [...TARGET.seed, 'those that exist'] };

export function wasmTarget({ kind }: Pick<Bundle, 'kind'>): PackageTarget {
  return kind === 'script' ? TARGET_OF_SCRIPTS : TARGET;
}

export interface WasmEnvironmentOptions {
  home: string;
  bundle: Bundle;
}

/** The folder of a bundle's packages, or why this engine cannot run it. Both are undefined if it needs no packages. */
export interface WasmEnvironment {
  folder?: string;
  refusal?: string;
  /** Requirements that this engine cannot have. */
  absent?: string[];
}

export function wasmEnvironment({ home, bundle }: WasmEnvironmentOptions): WasmEnvironment {
  const found = findEnvironment({ home, bundle, target: wasmTarget(bundle) });
  if (found.kind === 'none') return {};
  const requirements = requirementsOfBundle(bundle);
  if (found.kind === 'found')
    return {
      folder: packagesFolder(found.environment),
      absent: bundle.kind === 'script' ? absentFrom(found.packages, requirements) : [],
    };
  const reason = readRefusal(folderFor(home, bundle));
  if (reason !== undefined) return { refusal: `${reason}; the modes subprocess and container can run them` };
  if (found.kind === 'unpinned')
    return { refusal: `its skill.lock does not cover its packages for Wasm: ${found.reason}` };
  if (found.kind === 'different')
    return { refusal: `its packages for Wasm differ from its skill.lock: ${found.diff.join('; ')}` };
  const list = requirements.join(', ');
  return {
    refusal: `its requirements (${list}) are not installed for Wasm, which \`${installCommand(bundle)}\` does`,
  };
}

/** Whether an earlier installation has either succeeded or recorded why this engine cannot have the packages. */
export function isSettled({ home, bundle }: WasmEnvironmentOptions): boolean {
  const { kind } = findEnvironment({ home, bundle, target: wasmTarget(bundle) });
  const isDone = kind === 'none' || kind === 'found';
  return isDone || readRefusal(folderFor(home, bundle)) !== undefined;
}

export interface WasmInstallOptions extends WasmEnvironmentOptions {
  interpreter: Interpreter;
  /** Builds an engine with the native code of the packages in this folder; throws if that is impossible. */
  link: (packages: string) => Promise<unknown>;
}

/** The environment; or, if it cannot be created, the reason. Both are undefined if there are no requirements. */
export interface WasmInstalled {
  folder?: string | undefined;
  refusal?: string | undefined;
}

export async function installWasmEnvironment(
  options: WasmInstallOptions,
  how: InstallHow = {},
): Promise<WasmInstalled> {
  const { bundle, home } = options;
  const plan = planInstall({ home, bundle, target: wasmTarget(bundle) }, how);
  if (!plan) return {};
  const { folder, pins } = plan;
  if (await keepIfIntact(folder)) return { folder };
  // Exact versions, because a repacked wheel has no hash in the index; the result is compared with the pins.
  const requirements = pins
    ? pins.packages.map(({ name, version }) => `${name}==${version}`)
    : requirementsOfBundle(bundle);
  try {
    const make = async (draft: string): Promise<void> => {
      const making = { ...options, how, requirements, folder, draft };
      await makeEnvironment(making).catch((error: unknown) => makeAvailable(making, error));
    };
    await publish(folder, make, { keepsExisting: true });
    if (pins) await keepOnlyPinned(folder, pins, bundle);
    return { folder };
  } catch (error) {
    if (error instanceof SkillError && (error.code === 'cancelled' || error.code === 'manifest_drift'))
      throw error;
    const cause = error instanceof Error ? error.message : String(error);
    return {
      refusal: `not all of its requirements are pure Python or have native code for it (${ABI}, ${PYODIDE.platform}): ${cause}`,
    };
  }
}

interface Making extends WasmInstallOptions {
  how: InstallHow;
  requirements: string[];
  folder: string;
  draft: string;
}

/** Does without the requirements that this engine cannot have, if the skill can: commands that import them are refused. */
async function makeAvailable(making: Making, cause: unknown): Promise<void> {
  const { bundle, requirements, folder, draft, how } = making;
  if (bundle.kind !== 'script' || how.signal?.aborted) throw cause;
  const available: string[] = [];
  for (const requirement of requirements) {
    const probe = `${folder}.probe`;
    const alone = { ...making, requirements: [requirement], folder: `${probe}.pure`, draft: probe };
    try {
      await makeEnvironment(alone);
      available.push(requirement);
    } catch (error) {
      if (how.signal?.aborted) throw error;
    } finally {
      for (const made of [probe, alone.folder]) await removeTree(made);
    }
  }
  await removeTree(draft);
  if (available.length > 0) return makeEnvironment({ ...making, requirements: available });
  mkdirSync(packagesFolder(draft), { recursive: true });
  makeReadable(draft);
  await recordEnvironment(draft, []);
}

/** Requirements that are not among the packages. */
function absentFrom({ packages }: PinnedPackages, requirements: readonly string[]): string[] {
  const names = new Set(packages.map(({ name }) => name));
  // A marker can exclude a package from every engine.
  return requirements.filter((one) => !one.includes(';') && !names.has(distributionOf(one)));
}

function distributionOf(requirement: string): string {
  const [name = ''] = /^[\w.-]+/.exec(requirement.trim()) ?? [];
  return name.toLowerCase().replaceAll(/[._-]+/g, '-');
}

async function makeEnvironment({
  interpreter,
  link,
  how,
  requirements,
  folder,
  draft,
}: Making): Promise<void> {
  const wheels = { interpreter, requirements, folder: draft, target: THIS_ENGINE, watch: how };
  await installWithPureWheels({ ...wheels, ...SHARED });
  const native = nativeCodeIn(packagesFolder(draft)).length;
  if (native === 0) return;
  // If the same versions exist without native code, those are installed instead, and nothing has to be linked.
  if (await installPureVersions({ interpreter, draft, folder, how })) return;
  how.onInstall?.({ step: 'link', engine: SHARED.engine, what: `the native code of its packages` });
  await link(packagesFolder(draft));
}

interface PureOptions {
  interpreter: Interpreter;
  draft: string;
  folder: string;
  how: InstallHow;
}

/** Installs the same versions without native code; returns false if they do not exist. */
async function installPureVersions({ interpreter, draft, folder, how }: PureOptions): Promise<boolean> {
  const { packages = [] } = recordedPackages(draft) ?? {};
  const requirements = packages.map(({ name, version }) => `${name}==${version}`);
  const target = PURE_PYTHON;
  return installWheels({ interpreter, requirements, folder, target, watch: how, ...SHARED }).then(
    () => true,
    (error: unknown) => {
      if (how.signal?.aborted) throw error;
      return false;
    },
  );
}

/** Records the reason for later calls. Only for reasons that would be the same next time. */
export function rememberRefusal({ home, bundle }: WasmEnvironmentOptions, reason: string): void {
  const file = refusalFile(folderFor(home, bundle));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, reason);
}

function folderFor(home: string, bundle: Bundle): string {
  return folderOf({ home, target: wasmTarget(bundle) }, requirementsOfBundle(bundle));
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
