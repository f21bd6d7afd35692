/**
 * The engine `python-wasm`: unmodified Python in WebAssembly, every call on a fresh image of the interpreter.
 *
 * @module
 */
import type { Bundle } from '../../load/bundle.ts';
import type { Enforcement, EnforcementTable } from '../../policy/enforcement.ts';
import type { Grant } from '../../policy/grant.ts';
import type { Artifact, Engine, LaunchSpec, Mount, Wall } from '../contract.ts';
import { BASE_ENV } from '../jail/arguments.ts';
import { stageGuestCode } from '../node/guest-code.ts';
import { findNode } from '../node/node-binary.ts';
import { nodeSpec } from '../node/spec.ts';
import { harnessInit } from '../python/harness-init.ts';
import { installEngine } from './install.ts';
import { isPyodideInstalled, PYODIDE } from './pyodide.ts';
import { wasmEnvironment } from './requirements.ts';

const PAGE_BYTES = 64 * 1024;
/** Of the main thread's stack, in KiB; Linux gives it 8 MiB. */
const STACK_KIB = 7000;

export interface PythonWasmOptions {
  home: string;
  /** The strongest wall that this machine has; found out by trying. */
  wall: () => Promise<Wall>;
  onProgress?: ((text: string) => void) | undefined;
}

export class PythonWasmEngine implements Engine {
  readonly name = 'python-wasm';
  readonly reusable = true;
  readonly #options: PythonWasmOptions;
  #isInstalled: boolean | undefined;
  #installed: Promise<string> | undefined;

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
    const { folder } = wasmEnvironment({ home: this.#options.home, bundle });
    const spec = await this.cellSpec(bundle.stagedDir, folder);
    return { engine: 'python-wasm', bundle, spec: () => spec, init: (grant) => callInit(bundle, grant) };
  }

  /** How a cell is started that sees these folders as its bundle and its packages. */
  async cellSpec(stagedDir: string, packages?: string): Promise<LaunchSpec> {
    const { home } = this.#options;
    const engine = await this.#install();
    const mounts: Mount[] = [
      { host: engine, guest: '/engine' },
      { host: stagedDir, guest: '/skill' },
      ...(packages === undefined ? [] : [{ host: packages, guest: '/deps' }]),
    ];
    return nodeSpec({
      node: findNode(home),
      code: stageGuestCode(home, 'wasm'),
      entry: 'python/cell/main.js',
      args: mounts.map((mount) => mount.guest),
      mounts,
      flags: ['--max-old-space-size=96', `--stack-size=${STACK_KIB}`, '--expose-gc'],
    });
  }

  #install(): Promise<string> {
    const { home, wall, onProgress } = this.#options;
    this.#installed ??= wall().then((outer) => installEngine({ home, wall: outer, onProgress }));
    // A failure may be mended, e.g. by freeing some disk space.
    this.#installed.catch(() => (this.#installed = undefined));
    return this.#installed;
  }
}

function callInit(bundle: Bundle, grant: Grant): Record<string, unknown> {
  const siblings = Object.keys(bundle.files).map((path) => path.split('/')[0]?.replace(/\.py$/, ''));
  return {
    ...cellLimits(grant),
    preopens: grant.filesystem.map(({ guest, access }, at) => ({
      id: at + 1,
      guestPath: guest,
      writable: access === 'read-write',
    })),
    harness: {
      ...harnessInit(bundle, grant),
      env: grant.env,
      network: grant.network.length > 0,
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

/** What Python in Wasm cannot do at all, or only by asking. */
const IN_WASM = {
  filesystem: broker('every path walked from a handle of the granted directory, no link followed'),
  'filesystem.max_bytes': broker('bytes that a call adds are counted'),
  network: broker('exact host, port, scheme, method and path; one lookup; private addresses refused'),
  env: wasm('only granted names are handed over'),
  'env.secret': broker('placeholders in the cell; values come in where a request leaves, towards declared hosts'),
  syscalls: wasm('the engine has none'),
  memory: wasm('maximum of the linear memory, and a limit on the process around it'),
  output: wasm('counted where it is written'),
  processes: wasm('the engine cannot start any'),
  scratch: wasm('files in memory with a quota'),
} satisfies Partial<EnforcementTable>;
