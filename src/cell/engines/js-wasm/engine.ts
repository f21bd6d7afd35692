/**
 * The engine `js-wasm`: unmodified JavaScript and TypeScript in QuickJS on WebAssembly. Every call starts from a fresh
 * image of the engine.
 *
 * @module
 */
import type { JsInit } from '../../../../guest/protocol.ts';
import { isBuiltin } from 'node:module';
import type { Bundle, FileDigests } from '../../../load/bundle.ts';
import { broker, FUEL, wasm, type OwnEnforcement } from '../node-process/wasm-enforcement.ts';
import type { Grant } from '../../../policy/grant.ts';
import type { Artifact, Engine, LaunchSpec } from '../../contract.ts';
import { stageGuestCode } from '../node-process/guest-code.ts';
import { heapLimitBehind } from '../node-process/heap-limit.ts';
import { findNode } from '../node-process/node-binary.ts';
import { SERVING_ENV, SERVING_FLAGS } from '../node-process/serving-flags.ts';
import { nodeSpec } from '../node-process/spec.ts';
import { markInUse } from '../node-process/staged-folders.ts';
import { unboundStart } from '../node-process/unbound-start.ts';
import { WasmEngine } from '../node-process/wasm-engine.ts';
import { INLINING_FLAG } from '../component/engine.ts';
import { makeFolder } from './make-folder.ts';
import { findQuickJs, QUICKJS, readQuickJs } from './quickjs.ts';
import { isScript, prepareSources, type ScriptFindings } from './sources.ts';

const PAGE_BYTES = 64 * 1024;
/**
 * Fuel per millisecond of CPU time: more than any measured script burns, so that the CPU watchdog normally ends the call
 * first. An interpreter is also charged for the arms of its switch that it does not take.
 */
const FUEL_PER_CPU_MS = 64_000_000;
/** V8's share of the main thread's stack, in KiB; Linux provides 8 MiB. */
const STACK_KIB = 7000;

export class JsWasmEngine extends WasmEngine implements Engine {
  readonly name = 'js-wasm';
  protected readonly inWasm: OwnEnforcement = IN_WASM;
  #isInstalled: boolean | undefined;

  fixedEnv(): Readonly<Record<string, string>> {
    return {};
  }

  describe(): string {
    return `QuickJS-NG (quickjs-wasi ${QUICKJS.version}) in Wasm with our own import layer`;
  }

  missing(): { reason: string; fix: string } | undefined {
    // Cached, because resolving a package takes longer than a call.
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
    // The skill may not need the import on every path, so if Wasm is its only mode, it runs and the import may fail.
    const isOnlyWay = manifest.execution.every((mode) => mode === 'wasm') && manifest.execution.length > 0;
    return needed && !isOnlyWay ? `the skill imports "${needed.value}", which only Node has` : undefined;
  }

  /** Finds what the scripts of a bundle refer to, by static inspection. */
  async inspect(stagedDir: string, files: FileDigests, entry: string): Promise<ScriptFindings | undefined> {
    if (!isScript(entry)) return undefined;
    return (await prepareSources({ ...this.options, stagedDir, files, entry })).findings;
  }

  async prepare(bundle: Bundle): Promise<Artifact> {
    const { home } = this.options;
    const engine = await this.#engine();
    const { folder } = await prepareSources({ ...this.options, ...bundle });
    const [node, code] = [findNode(home), stageGuestCode(home, 'wasm')];
    const start = (grant: Grant, artifact: string, ...options: string[]): LaunchSpec => {
      for (const used of [code, engine, folder]) markInUse(used);
      return nodeSpec({
        node,
        code,
        entry: 'js/cell/main.cjs',
        args: ['/engine', '/artifact', ...options],
        mounts: [
          { host: engine, guest: '/engine' },
          { host: artifact, guest: '/artifact' },
        ],
        flags: [
          ...SERVING_FLAGS,
          `--stack-size=${STACK_KIB}`,
          `--wasm-max-mem-pages=${pagesOf(grant)}`,
          INLINING_FLAG,
        ],
        env: SERVING_ENV,
      });
    };
    return {
      engine: 'js-wasm',
      bundle,
      spec: (grant) => start(grant, folder),
      unbound: unboundStart(start, folder),
      init: (grant) => callInit(bundle, grant),
      limitBehind: heapLimitBehind,
    };
  }

  #engine(): Promise<string> {
    return makeFolder({
      ...this.options,
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

function callInit({ entry, manifest, origin }: Bundle, grant: Grant): JsInit {
  const { limits, env, filesystem, observe, skills } = grant;
  return {
    entry,
    limits: { pages: pagesOf(grant), output: limits.output, fuel: limits.cpu * FUEL_PER_CPU_MS },
    preopens: [
      { id: 0, guestPath: '/skill', writable: false },
      ...filesystem.map(({ guest }, at) => ({ id: at + 1, guestPath: guest, writable: false })),
    ],
    prelude: {
      env,
      declaredEnv: Object.keys(manifest.env),
      observe: observe !== undefined,
      ...(skills ? { skills: true } : {}),
    },
    ...(origin === 'generated' ? { program: true } : {}),
  };
}

/** Enforced by Wasm itself: JavaScript cannot do this at all, or only by asking the host. */
const IN_WASM = {
  'filesystem.max_bytes': broker('nothing can be written'),
  cpu: FUEL,
  scratch: wasm('the engine has none'),
};
