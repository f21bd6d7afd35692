/**
 * The engine `python-wasm`: unmodified Python in WebAssembly, every call on a fresh image of the interpreter.
 *
 * @module
 */
import type { Bundle } from '../../load/bundle.ts';
import type { Enforcement, EnforcementTable } from '../../policy/enforcement.ts';
import { mayReachHosts, type Grant } from '../../policy/grant.ts';
import { MEMORY_ALONE, type PythonFreshness } from '../../policy/python-freshness.ts';
import type { Artifact, Engine, LaunchSpec, Mount, Wall } from '../contract.ts';
import { BASE_ENV } from '../jail/arguments.ts';
import { stageGuestCode } from '../node/guest-code.ts';
import { heapLimitBehind } from '../node/heap-limit.ts';
import { findNode } from '../node/node-binary.ts';
import { nodeSpec } from '../node/spec.ts';
import { markInUse } from '../node/staged-folders.ts';
import { harnessInit } from '../python/harness-init.ts';
import { BaseImages } from './base-images.ts';
import { assertAsInstalled } from '../python/requirements.ts';
import { nativeCodeDigest, nativeCodeIn } from './native-code.ts';
import { isPyodideInstalled, PYODIDE } from './pyodide.ts';
import { openPackages, type Packages } from './packages.ts';
import { wasmEnvironment } from './requirements.ts';
import { findSavedImage, MAX_SAVED_BYTES, saveImage, savedImageKey } from './saved-images.ts';

const PAGE_BYTES = 64 * 1024;
/** Of the main thread's stack, in KiB; Linux gives it 8 MiB. */
const STACK_KIB = 7000;
const GUEST_PLACES = {
  engine: '/engine',
  image: '/image',
  bundle: '/skill',
  packages: '/deps',
  bytecode: '/bytecode',
  saved: '/saved',
} as const;
const CELL_FOLDERS = Object.keys(GUEST_PLACES) as (keyof typeof GUEST_PLACES)[];

export interface PythonWasmOptions {
  home: string;
  /** The strongest wall that this machine has; found out by trying. */
  wall: () => Promise<Wall>;
  /** Where several homes share prepared engines. */
  shared?: string | undefined;
  onProgress?: ((text: string) => void) | undefined;
  /** What the operator asks for beyond the usual reset. */
  fresh?: PythonFreshness | undefined;
}

/** Folders of the host for a cell, by what they are for. */
export interface CellFolders {
  /** The base image. */
  image: string;
  bundle: string;
  packages?: string | undefined;
  /** Of the packages. */
  bytecode?: string | undefined;
  /** The image that an earlier cell of this skill handed over. */
  saved?: string | undefined;
}

export class PythonWasmEngine implements Engine {
  readonly name = 'python-wasm';
  readonly reusable = true;
  /** Writing a whole interpreter back takes about as long as a short call. */
  readonly takesTurns = true;
  readonly #options: PythonWasmOptions;
  #isInstalled: boolean | undefined;
  /** By the native code of packages that is in them. */
  readonly #images = new Map<string | undefined, Promise<BaseImages>>();

  constructor(options: PythonWasmOptions) {
    this.#options = options;
  }

  enforces(wall: EnforcementTable): EnforcementTable {
    return { ...wall, ...IN_WASM };
  }

  fixedEnv(): Readonly<Record<string, string>> {
    return BASE_ENV;
  }

  describe(): string {
    return `CPython ${PYODIDE.python} in Wasm with our own import layer`;
  }

  missing(): { reason: string; fix: string } | undefined {
    // Looking for a package takes longer than a call.
    this.#isInstalled ??= isPyodideInstalled();
    if (this.#isInstalled) return undefined;
    return {
      reason: 'the package pyodide is not installed',
      fix: `Install it: npm install pyodide@${PYODIDE.version}`,
    };
  }

  refuses(bundle: Bundle): string | undefined {
    const { entry, manifest } = bundle;
    if (!entry.endsWith('.py')) return `the engine python-wasm cannot run "${entry}"`;
    if ((manifest.limits.processes ?? 0) > 0) return 'the skill declares processes, and Wasm has none';
    return wasmEnvironment({ home: this.#options.home, bundle }).refusal;
  }

  async prepare(bundle: Bundle): Promise<Artifact> {
    const { home, fresh = MEMORY_ALONE } = this.#options;
    const { folder } = wasmEnvironment({ home, bundle });
    const uses =
      folder === undefined ? undefined : await assertAsInstalled(folder, { bundle, engine: this.name });
    const images = await this.images(folder);
    const packages = folder === undefined ? undefined : await this.#openPackages(images, folder);
    const start = this.cellSpec(images);
    const init = (grant: Grant): Record<string, unknown> => callInit(bundle, grant, fresh);
    const key = (grant: Grant): string => savedImageKey([bundle.digest, packages?.digest, init(grant)]);
    return {
      engine: 'python-wasm',
      bundle,
      ...(uses ? { uses } : {}),
      spec: (grant) => {
        const image = images.take();
        const saved = mayKeep(grant, fresh) ? findSavedImage(image.skills, key(grant)) : undefined;
        return start({
          image: image.base,
          bundle: bundle.stagedDir,
          packages: packages?.folder,
          bytecode: packages?.bytecode,
          saved,
        });
      },
      init: (grant) => ({ ...init(grant), keepBytes: mayKeep(grant, fresh) ? MAX_SAVED_BYTES : 0 }),
      keep: (grant, bytes) => {
        if (mayKeep(grant, fresh)) saveImage(images.newest.skills, key(grant), bytes);
      },
      limitBehind: heapLimitBehind,
    };
  }

  async #openPackages(images: BaseImages, folder: string): Promise<Packages> {
    const { home, wall } = this.#options;
    return openPackages({ home, wall: await wall(), images, folder });
  }

  /** How a cell is started that sees these folders. */
  cellSpec({ code }: BaseImages): (folders: CellFolders) => LaunchSpec {
    const { home } = this.#options;
    const [node, harness] = [findNode(home), stageGuestCode(home, 'wasm')];
    return (folders) => {
      markInUse(harness);
      const mounts = mountsOf({ engine: code, ...folders });
      return nodeSpec({
        node,
        code: harness,
        entry: 'python/cell/main.js',
        args: mounts.map(({ name, guest }) => `${name}=${guest}`),
        mounts: mounts.map(({ host, guest }) => ({ host, guest })),
        flags: ['--max-old-space-size=96', `--stack-size=${STACK_KIB}`, '--expose-gc'],
      });
    };
  }

  /** The engine is installed when it is missing; packages with native code have one of their own. */
  images(packages?: string): Promise<BaseImages> {
    const { home, wall, onProgress, shared } = this.#options;
    const native = packages !== undefined && nativeCodeIn(packages).length > 0 ? packages : undefined;
    const key = native && nativeCodeDigest(native);
    const known = this.#images.get(key);
    if (known) return known;
    const opened = wall().then((outer) =>
      BaseImages.open({ home, wall: outer, onProgress, shared, packages: native }),
    );
    this.#images.set(key, opened);
    // A failure may be mended, e.g. by freeing some disk space.
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

/** Values of variables may be secrets, which belong on no disk; a strict call has no use for what was made before. */
function mayKeep(grant: Grant, { strict }: PythonFreshness): boolean {
  const isBare = Object.keys(grant.env).length === 0 && (grant.secrets ?? []).length === 0;
  return isBare && !strict;
}

function callInit(bundle: Bundle, grant: Grant, fresh: PythonFreshness): Record<string, unknown> {
  const siblings = Object.keys(bundle.files).map((path) => path.split('/')[0]?.replace(/\.py$/, ''));
  return {
    ...cellLimits(grant),
    fresh,
    preopens: grant.filesystem.map(({ guest, access }, at) => ({
      id: at + 1,
      guestPath: guest,
      writable: access === 'read-write',
    })),
    harness: {
      ...harnessInit(bundle, grant),
      env: grant.env,
      network: mayReachHosts(grant),
      siblings: [...new Set(siblings)],
    },
  };
}

export function cellLimits({ limits }: Grant): Record<string, unknown> {
  const { memory, output, scratch } = limits;
  return { limits: { pages: Math.floor(memory / PAGE_BYTES), output, scratch } };
}

const wasm = (how: string): Enforcement => ({ by: 'wasm', how });
const broker = (how: string): Enforcement => ({ by: 'broker', how });
const nobody = (how: string): Enforcement => ({ by: 'nobody', how });

/** What Python in Wasm cannot do at all, or only by asking. */
const IN_WASM = {
  filesystem: broker('every path walked from a handle of the granted directory, no link followed'),
  'filesystem.max_bytes': broker('bytes that a call adds are counted'),
  network: broker('exact host, port, scheme, method and path; one lookup; private addresses refused'),
  'network.inside_tls': broker('the broker makes the requests, and does TLS itself'),
  'network.websocket': nobody('Wasm cells speak http and https; declare no rule with the scheme ws or wss'),
  env: wasm('only granted names are handed over'),
  'env.secret': broker(
    'placeholders in the cell; values come in where a request leaves, towards declared hosts',
  ),
  syscalls: wasm('the engine has none'),
  memory: wasm('maximum of the linear memory, and a limit on the process around it'),
  output: wasm('counted where it is written'),
  processes: wasm('the engine cannot start any'),
  scratch: wasm('files in memory with a quota'),
} satisfies Partial<EnforcementTable>;
