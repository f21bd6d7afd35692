/**
 * The engine `js-wasm`: JavaScript and TypeScript as they were written, in QuickJS in WebAssembly, every call on a fresh
 * image of the engine.
 *
 * @module
 */
import { isBuiltin } from 'node:module';
import type { Bundle, FileDigests } from '../../load/bundle.ts';
import type { Enforcement, EnforcementTable } from '../../policy/enforcement.ts';
import type { Grant } from '../../policy/grant.ts';
import type { Artifact, Engine, LaunchSpec, Wall } from '../contract.ts';
import { stageGuestCode } from '../node/guest-code.ts';
import { heapLimitBehind } from '../node/heap-limit.ts';
import { findNode } from '../node/node-binary.ts';
import { nodeSpec } from '../node/spec.ts';
import { markInUse } from '../node/staged-folders.ts';
import { INLINING_FLAG } from '../wasm/engine.ts';
import { makeFolder } from './make-folder.ts';
import { findQuickJs, QUICKJS, readQuickJs } from './quickjs.ts';
import { isScript, prepareSources, type ScriptFindings } from './sources.ts';

const PAGE_BYTES = 64 * 1024;
/**
 * Fuel of a millisecond of CPU time: more than any script was seen to use up in one, so that it rather lasts longer and
 * the watch over the CPU time ends the call. An interpreter is charged for arms of its switch that it does not take.
 */
const FUEL_PER_CPU_MS = 64_000_000;
/** Of the main thread's stack, in KiB; Linux gives it 8 MiB. */
const STACK_KIB = 7000;

export interface JsWasmOptions {
  home: string;
  /** The strongest wall that this machine has; found out by trying. */
  wall: () => Promise<Wall>;
}

export class JsWasmEngine implements Engine {
  readonly name = 'js-wasm';
  readonly reusable = true;
  readonly #options: JsWasmOptions;
  #isInstalled: boolean | undefined;

  constructor(options: JsWasmOptions) {
    this.#options = options;
  }

  enforces(wall: EnforcementTable): EnforcementTable {
    return { ...wall, ...IN_WASM };
  }

  fixedEnv(): Readonly<Record<string, string>> {
    return {};
  }

  describe(): string {
    return `QuickJS-NG (quickjs-wasi ${QUICKJS.version}) in Wasm with our own import layer`;
  }

  missing(): { reason: string; fix: string } | undefined {
    // Looking for a package takes longer than a call.
    this.#isInstalled ??= findQuickJs() !== undefined;
    if (this.#isInstalled) return undefined;
    return {
      reason: 'the package quickjs-wasi is not installed',
      fix: `Install it: npm install quickjs-wasi@${QUICKJS.version}`,
    };
  }

  refuses({ entry, manifest, inspection }: Bundle): string | undefined {
    if (!isScript(entry)) return `the engine js-wasm cannot run "${entry}"`;
    if ((manifest.limits.processes ?? 0) > 0) return 'the skill declares processes, and Wasm has none';
    const writes = manifest.capabilities.filesystem.some(({ access }) => access === 'read-write');
    if (writes) return 'the skill declares files to write, and the engine js-wasm only reads';
    const needed = inspection.imports?.find(({ value }) => isBuiltin(value));
    // It may get by without: where nothing else was asked for, it is run and told.
    const isOnlyWay = manifest.execution.every((mode) => mode === 'wasm') && manifest.execution.length > 0;
    return needed && !isOnlyWay ? `the skill imports "${needed.value}", which only Node has` : undefined;
  }

  /** What the scripts of a bundle need, as far as their words tell. */
  async inspect(stagedDir: string, files: FileDigests, entry: string): Promise<ScriptFindings | undefined> {
    if (!isScript(entry)) return undefined;
    return (await prepareSources({ ...this.#options, stagedDir, files, entry })).findings;
  }

  async prepare(bundle: Bundle): Promise<Artifact> {
    const { home } = this.#options;
    const engine = await this.#engine();
    const { folder } = await prepareSources({ ...this.#options, ...bundle });
    const [node, code] = [findNode(home), stageGuestCode(home, 'wasm')];
    const spec = (grant: Grant): LaunchSpec => {
      for (const used of [code, engine, folder]) markInUse(used);
      return nodeSpec({
        node,
        code,
        entry: 'js/cell/main.js',
        args: ['/engine', '/artifact'],
        mounts: [
          { host: engine, guest: '/engine' },
          { host: folder, guest: '/artifact' },
        ],
        flags: [
          '--max-old-space-size=96',
          `--stack-size=${STACK_KIB}`,
          '--expose-gc',
          `--wasm-max-mem-pages=${pagesOf(grant)}`,
          INLINING_FLAG,
        ],
      });
    };
    return {
      engine: 'js-wasm',
      bundle,
      spec,
      init: (grant) => callInit(bundle, grant),
      limitBehind: heapLimitBehind,
    };
  }

  #engine(): Promise<string> {
    return makeFolder({
      ...this.#options,
      key: `engine-${QUICKJS.sha256.slice(0, 16)}`,
      what: 'JavaScript for Wasm',
      entry: 'js/install/main.js',
      input: {
        'engine.wasm': readQuickJs(),
        'input.json': JSON.stringify({ sha256: QUICKJS.sha256 }),
      },
      output: 'code',
    });
  }
}

function pagesOf({ limits }: Grant): number {
  return Math.floor(limits.memory / PAGE_BYTES);
}

function callInit({ entry, manifest }: Bundle, grant: Grant): Record<string, unknown> {
  const { limits, env, filesystem, observe } = grant;
  return {
    entry,
    limits: { pages: pagesOf(grant), output: limits.output, fuel: limits.cpu * FUEL_PER_CPU_MS },
    preopens: [
      { id: 0, guestPath: '/skill', writable: false },
      ...filesystem.map(({ guest }, at) => ({ id: at + 1, guestPath: guest, writable: false })),
    ],
    prelude: { env, declaredEnv: Object.keys(manifest.env), observe: observe !== undefined },
  };
}

const wasm = (how: string): Enforcement => ({ by: 'wasm', how });
const broker = (how: string): Enforcement => ({ by: 'broker', how });
const nobody = (how: string): Enforcement => ({ by: 'nobody', how });

/** What JavaScript in Wasm cannot do at all, or only by asking. */
const IN_WASM = {
  filesystem: broker('every path walked from a handle of the granted directory, no link followed'),
  'filesystem.max_bytes': broker('nothing can be written'),
  network: broker('exact host, port, scheme, method and path; one lookup; private addresses refused'),
  'network.inside_tls': broker('the broker makes the requests, and does TLS itself'),
  'network.websocket': nobody('Wasm cells speak http and https; declare no rule with the scheme ws or wss'),
  env: wasm('only granted names are handed over'),
  'env.secret': broker(
    'placeholders in the cell; values come in where a request leaves, towards declared hosts',
  ),
  cpu: wasm('fuel: every run of the same call counts the same; and the CPU time of the call is watched'),
  syscalls: wasm('the engine has none'),
  memory: wasm('maximum of the linear memory, and a limit on the process around it'),
  output: wasm('counted where it is written'),
  processes: wasm('the engine cannot start any'),
  scratch: wasm('the engine has none'),
} satisfies Partial<EnforcementTable>;
