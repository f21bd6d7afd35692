/**
 * The third-party packages of bundles for every engine that has its own: installed, found, and pinned.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { Bundle } from '../load/bundle.ts';
import { runsPython } from '../load/entry.ts';
import type { InstallHow } from '../load/install-progress.ts';
import { mergeLocked, pinsOfTarget, type LockedPackages } from '../load/locked-packages.ts';
import type { PackageEngine, PinnedPackages, Pins } from '../load/pins.ts';
import { markUsed } from '../load/presence.ts';
import type { Mode } from '../vocabulary/modes.ts';
import { recordedPackages } from './engines/python/environment.ts';
import type { Interpreter } from './engines/python/interpreter.ts';
import {
  assertPinned,
  findEnvironment,
  folderOf,
  requirementsOfBundle,
  type PackageTarget,
} from './engines/python/pinned-environment.ts';
import { installEnvironment, nativeTarget } from './engines/python/requirements.ts';
import { installedNpmPackages, installNpmPackages, NPM_TARGET } from './engines/script/npm-packages.ts';
import {
  installWasmEnvironment,
  rememberRefusal,
  wasmTarget,
  type WasmInstalled,
} from './engines/python-wasm/requirements.ts';

export interface BundlePackagesOptions {
  home: string;
  interpreter: Interpreter | undefined;
  /** Builds a Wasm engine with the native code of the packages in this folder. */
  link: (packages: string) => Promise<unknown>;
}

/** Installed packages by the name of their target in a lock. */
export type InstalledTargets = Record<string, PinnedPackages>;

export class BundlePackages {
  readonly #options: BundlePackagesOptions;
  /** Whether a bundle needs packages at all. A loaded bundle does not change, and each call asks. */
  readonly #needsPackages = new WeakMap<Bundle, boolean>();

  constructor(options: BundlePackagesOptions) {
    this.#options = options;
  }

  /** Installs the packages for each engine that the bundle may run in. */
  async install(bundle: Bundle, how: InstallHow): Promise<InstalledTargets> {
    const { home, interpreter, link } = this.#options;
    const npm = await installNpmPackages({ home, bundle }, how);
    const ofNpm = npm ? { [NPM_TARGET.name]: npm } : {};
    if (!interpreter || !runsPython(bundle)) return ofNpm;
    const mayRunIn = modesOf(bundle);
    const wasm = mayRunIn('wasm') ? await this.#installWasm({ home, bundle, interpreter, link }, how) : {};
    if (!mayRunIn('subprocess') && wasm.refusal !== undefined) throw notPure(wasm.refusal);
    const native = mayRunIn('subprocess')
      ? await installEnvironment({ home, interpreter, bundle }, how)
      : undefined;
    // The package index was reachable, so the refusal is not due to a missing network.
    if (wasm.refusal !== undefined) rememberRefusal({ home, bundle }, wasm.refusal);
    return {
      ...read(wasmTarget(bundle), wasm.folder),
      ...read(nativeTarget(interpreter), native),
      ...ofNpm,
    };
  }

  /** If the lock pins packages only for native Python, the skill does without Wasm. */
  async #installWasm(
    options: Parameters<typeof installWasmEnvironment>[0],
    how: InstallHow,
  ): Promise<WasmInstalled> {
    const { bundle } = options;
    const pins = pinsOfTarget(bundle.lockedPackages, wasmTarget(bundle).name, requirementsOfBundle(bundle));
    if (pins.kind === 'missing' && !how.mayPin && modesOf(bundle)('subprocess')) return {};
    return installWasmEnvironment(options, how);
  }

  /** The packages that a call would use now, if they are installed. */
  installed(bundle: Bundle): Pins['packages'] {
    const npm = installedNpmPackages({ home: this.#options.home, bundle });
    if (npm) markUsed(npm.environment);
    const ofNpm = npm ? { node: npm.packages } : undefined;
    if (!this.#needsAny(bundle)) return ofNpm;
    const found = this.#targets(bundle).flatMap(([engine, target]) => {
      const environment = findEnvironment({ home: this.#options.home, bundle, target });
      if (environment.kind !== 'found') return [];
      markUsed(environment.environment);
      return [[engine, environment.packages] as const];
    });
    return found.length === 0 ? ofNpm : { ...Object.fromEntries(found), ...ofNpm };
  }

  /** Throws `manifest_drift` if the lock pins packages, and no engine of this machine has exactly these. */
  assertPinned(bundle: Bundle): void {
    if (!bundle.lockedPackages) return;
    const { home } = this.#options;
    const found = this.#targets(bundle).map(([, target]) => findEnvironment({ home, bundle, target }));
    if (found.some(({ kind }) => kind === 'found' || kind === 'none' || kind === 'absent')) return;
    for (const one of found.toSorted((a) => (a.kind === 'different' ? -1 : 1))) assertPinned(bundle, one);
  }

  /** What a new lock pins: what the old one pinned for the same requirements, and what is installed here. */
  toPin(bundle: Bundle, before: LockedPackages | undefined): LockedPackages | undefined {
    const requirements = requirementsOfBundle(bundle);
    const npm = before?.targets[NPM_TARGET.name];
    // Only an installation resolves npm packages.
    if (requirements.length === 0)
      return npm && bundle.kind === 'script'
        ? { requirements, targets: { [NPM_TARGET.name]: npm } }
        : undefined;
    const added = this.#targets(bundle).flatMap(([, target]) => {
      if (before && pinsOfTarget(before, target.name, requirements).kind === 'pinned') return [];
      const here = recordedPackages(folderOf({ home: this.#options.home, target }, requirements));
      return here ? [[target.name, here] as const] : [];
    });
    return mergeLocked(requirements, Object.fromEntries(added), before);
  }

  #needsAny(bundle: Bundle): boolean {
    const known = this.#needsPackages.get(bundle);
    if (known !== undefined) return known;
    const needs = runsPython(bundle) && requirementsOfBundle(bundle).length > 0;
    this.#needsPackages.set(bundle, needs);
    return needs;
  }

  #targets(bundle: Bundle): [PackageEngine, PackageTarget][] {
    const { interpreter } = this.#options;
    if (!runsPython(bundle)) return [];
    const mayRunIn = modesOf(bundle);
    return [
      ...(interpreter && mayRunIn('subprocess')
        ? [['python', nativeTarget(interpreter)] as [PackageEngine, PackageTarget]]
        : []),
      ...(mayRunIn('wasm') ? [['python-wasm', wasmTarget(bundle)] as [PackageEngine, PackageTarget]] : []),
    ];
  }
}

function read(target: PackageTarget, environment: string | undefined): InstalledTargets {
  const packages = environment === undefined ? undefined : recordedPackages(environment);
  return packages ? { [target.name]: packages } : {};
}

export function modesOf({ manifest: { execution } }: Bundle): (mode: Mode) => boolean {
  return (mode) => execution.length === 0 || execution.includes(mode);
}

function notPure(reason: string): SkillError {
  return new SkillError('skill_unavailable', `The skill cannot run in Wasm: ${reason}`, {
    fix: 'List "subprocess" or "container" under execution, or use packages of pure Python.',
  });
}
