/**
 * The engine `python-wasm`: unmodified Python on WebAssembly. Every call starts from a fresh image of the interpreter.
 *
 * @module
 */
import type { PythonWasmInit } from '../../../../guest/protocol.ts';
import type { Bundle } from '../../../load/bundle.ts';
import { wasm, type OwnEnforcement } from '../node-process/wasm-enforcement.ts';
import type { Command, ParsedCommand } from '../../../policy/commands/command.ts';
import { mayReachHosts, type Grant } from '../../../policy/grant.ts';
import { NEW_MEMORY_ONLY, type PythonFreshness } from '../../../policy/python-freshness.ts';
import type { Artifact, Engine, LaunchSpec, Mount } from '../../contract.ts';
import { BASE_ENV, commandEnv, workingFolder } from '../../native-env.ts';
import { stageGuestCode } from '../node-process/guest-code.ts';
import { heapLimitBehind } from '../node-process/heap-limit.ts';
import { findNode } from '../node-process/node-binary.ts';
import { READS_RANDOM, SERVING_ENV, SERVING_FLAGS } from '../node-process/serving-flags.ts';
import { nodeSpec } from '../node-process/spec.ts';
import { markInUse } from '../node-process/staged-folders.ts';
import { WasmEngine, type WasmEngineOptions } from '../node-process/wasm-engine.ts';
import { assertModule } from '../python/command-module.ts';
import { harnessInit } from '../python/harness-init.ts';
import { BaseImages } from './base-images.ts';
import { assertAsInstalled } from '../python/requirements.ts';
import { nativeCodeDigest, nativeCodeIn } from './native-code.ts';
import { isPyodideInstalled, PYODIDE } from './pyodide.ts';
import { openPackages, type Packages } from './packages.ts';
import { refusesCommand, refusesImports } from './commands.ts';
import { wasmEnvironment } from './requirements.ts';
import { isSmall, unboundPython } from './unbound.ts';
import { MAX_SAVED_BYTES, readSavedImage, saveImage, savedImageKey } from './saved-images.ts';

const PAGE_BYTES = 64 * 1024;
/** V8's share of the main thread's stack, in KiB; Linux provides 8 MiB. */
const STACK_KIB = 7000;
/** Each function is validated before it runs first. The installer has validated all of the engine. */
const LAZY_VALIDATION = '--wasm-lazy-validation';
/** Three times as late as by default: most functions of a short call are never worth the time that optimizing them takes. */
const LATE_OPTIMIZATION = '--wasm-tiering-budget=40000000';
const GUEST_PLACES = {
  engine: '/engine',
  image: '/image',
  bundle: '/skill',
  packages: '/deps',
  bytecode: '/bytecode',
} as const;
const CELL_FOLDERS = Object.keys(GUEST_PLACES) as (keyof typeof GUEST_PLACES)[];

export interface PythonWasmOptions extends WasmEngineOptions {
  /** Folder in which several homes share prepared engines. */
  shared?: string | undefined;
  onProgress?: ((text: string) => void) | undefined;
  /** Stricter resets between calls, if the operator asks for them. */
  fresh?: (() => PythonFreshness | undefined) | undefined;
}

/** Host folders that a cell mounts, by purpose. */
export interface CellFolders {
  /** The base image. */
  image: string;
  bundle: string;
  packages?: string | undefined;
  /** Bytecode of the packages. */
  bytecode?: string | undefined;
}

export class PythonWasmEngine extends WasmEngine<PythonWasmOptions> implements Engine {
  readonly name = 'python-wasm';
  /** Restoring the interpreter's memory takes about as long as a short call. */
  readonly takesTurns = true;
  protected readonly inWasm: OwnEnforcement = IN_WASM;
  #isInstalled: boolean | undefined;
  /** By the digest of the packages' native code that they contain. */
  readonly #images = new Map<string | undefined, Promise<BaseImages>>();

  fixedEnv(grant: Grant, { kind }: Pick<Bundle, 'kind'>): Readonly<Record<string, string>> {
    return kind === 'script' ? { ...BASE_ENV, PWD: workingFolder(grant) } : BASE_ENV;
  }

  describe(): string {
    return `CPython ${PYODIDE.python} in Wasm with our own import layer`;
  }

  missing(): { reason: string; fix: string } | undefined {
    // Cached, because resolving a package takes longer than a call.
    this.#isInstalled ??= isPyodideInstalled();
    if (this.#isInstalled) return undefined;
    return {
      reason: 'the package pyodide is not installed',
      fix: `Install it: npm install pyodide@${PYODIDE.version}`,
    };
  }

  refuses(bundle: Bundle, command?: ParsedCommand): string | undefined {
    const { entry, kind, manifest } = bundle;
    const refusal = kind === 'script' ? refusesCommand(bundle, command) : undefined;
    if (refusal !== undefined) return refusal;
    if (kind !== 'script' && !entry.endsWith('.py')) return `the engine python-wasm cannot run "${entry}"`;
    if ((manifest.limits.processes ?? 0) > 0) return 'the skill declares processes, and Wasm has none';
    const environment = wasmEnvironment({ home: this.options.home, bundle });
    return environment.refusal ?? (command && refusesImports(bundle, command, environment));
  }

  async prepare(bundle: Bundle, command?: Command): Promise<Artifact> {
    const { home } = this.options;
    const fresh = this.options.fresh?.() ?? NEW_MEMORY_ONLY;
    const { folder } = wasmEnvironment({ home, bundle });
    assertModule(command, bundle, folder);
    const uses =
      folder === undefined ? undefined : await assertAsInstalled(folder, { bundle, engine: this.name });
    const images = await this.images(folder);
    const packages = folder === undefined ? undefined : await this.#openPackages(images, folder);
    const start = this.cellSpec(images);
    const isCommand = bundle.kind === 'script';
    const init = (grant: Grant): CallInit => ({
      ...(isCommand ? commandInit(bundle, grant, folder) : functionInit(bundle, grant)),
      ...cellInit(grant),
      fresh,
    });
    const key = (grant: Grant): string => savedImageKey([bundle.digest, packages?.digest, init(grant)]);
    return {
      engine: 'python-wasm',
      bundle,
      settings: fresh,
      ...(isCommand ? { isCommand } : {}),
      ...(uses ? { uses } : {}),
      spec: () =>
        start({
          image: images.take().base,
          bundle: bundle.stagedDir,
          packages: packages?.folder,
          bytecode: packages?.bytecode,
        }),
      saved: (grant) =>
        mayKeep(grant, fresh) ? readSavedImage(images.newest.skills, key(grant)) : Promise.resolve(undefined),
      ...(packages || !isSmall(bundle.stagedDir)
        ? {}
        : { unbound: unboundPython({ bundle, images, start }) }),
      init: (grant) => ({ ...init(grant), keepBytes: mayKeep(grant, fresh) ? MAX_SAVED_BYTES : 0 }),
      keep: (grant, bytes) => {
        if (mayKeep(grant, fresh)) saveImage(images.newest.skills, key(grant), bytes);
      },
      limitBehind: heapLimitBehind,
    };
  }

  async #openPackages(images: BaseImages, folder: string): Promise<Packages> {
    const { home, wall } = this.options;
    return openPackages({ home, wall: await wall(), images, folder });
  }

  /** Returns a function that makes the launch spec of a cell with these folders. */
  cellSpec({ code, isOurs }: BaseImages): (folders: CellFolders, options?: readonly string[]) => LaunchSpec {
    const { home } = this.options;
    const [node, harness] = [findNode(home), stageGuestCode(home, 'wasm')];
    return (folders, options = []) => {
      markInUse(harness);
      const mounts = mountsOf({ engine: code, ...folders });
      return nodeSpec({
        node,
        code: harness,
        entry: 'python/cell/main.cjs',
        args: [...mounts.map(({ name, guest }) => `${name}=${guest}`), ...options],
        mounts: mounts.map(({ host, guest }) => ({ host, guest })),
        flags: [
          ...[...SERVING_FLAGS, READS_RANDOM, `--stack-size=${STACK_KIB}`, LATE_OPTIMIZATION],
          ...(isOurs ? [LAZY_VALIDATION] : []),
        ],
        env: SERVING_ENV,
      });
    };
  }

  /** Installs the engine if it is missing. Packages with native code get their own engine. */
  images(packages?: string): Promise<BaseImages> {
    const { home, wall, onProgress, shared } = this.options;
    const native = packages !== undefined && nativeCodeIn(packages).length > 0 ? packages : undefined;
    const key = native && nativeCodeDigest(native);
    const known = this.#images.get(key);
    if (known) return known;
    const opened = wall().then((outer) =>
      BaseImages.open({ home, wall: outer, onProgress, shared, packages: native }),
    );
    this.#images.set(key, opened);
    // Forgotten on failure, so that a later call can try again, e.g. after disk space was freed.
    opened.catch(() => this.#images.delete(key));
    return opened;
  }
}

function mountsOf(folders: CellFolders & { engine: string }): (Mount & { name: string })[] {
  return CELL_FOLDERS.flatMap((name) => {
    const host = folders[name];
    return host === undefined ? [] : [{ name, host, guest: GUEST_PLACES[name] }];
  });
}

/** Values of variables may be secrets, which must not reach the disk. Strict calls do not use saved images. */
function mayKeep(grant: Grant, { strict }: PythonFreshness): boolean {
  const isBare = Object.keys(grant.env).length === 0 && (grant.secrets ?? []).length === 0;
  return isBare && !strict;
}

type CallInit = Omit<PythonWasmInit, 'keepBytes'>;

function cellInit(grant: Grant): Pick<CallInit, 'limits' | 'preopens'> {
  return {
    ...cellLimits(grant),
    preopens: grant.filesystem.map(({ guest, access }, at) => ({
      id: at + 1,
      guestPath: guest,
      writable: access === 'read-write',
    })),
  };
}

function functionInit(bundle: Bundle, grant: Grant): Pick<CallInit, 'harness'> {
  const siblings = Object.keys(bundle.files).map((path) => path.split('/')[0]?.replace(/\.py$/, ''));
  return {
    harness: {
      ...harnessInit(bundle, grant),
      env: grant.env,
      network: mayReachHosts(grant),
      siblings: [...new Set(siblings)],
    },
  };
}

function commandInit(
  bundle: Bundle,
  grant: Grant,
  packages: string | undefined,
): Pick<CallInit, 'harness' | 'cwd'> {
  return {
    cwd: workingFolder(grant),
    harness: {
      task: 'script',
      view: harnessInit(bundle, grant).view,
      env: { ...commandEnv(grant, packages), ...grant.env },
      network: mayReachHosts(grant),
    },
  };
}

export function cellLimits({ limits }: Grant): Pick<PythonWasmInit, 'limits'> {
  const { memory, output, scratch } = limits;
  return { limits: { pages: Math.floor(memory / PAGE_BYTES), output, scratch } };
}

/** Enforced by Wasm itself: Python cannot do this at all, or only by asking the host. */
const IN_WASM = { scratch: wasm('files in memory with a quota') };
