/**
 * The engine `component`: WebAssembly components of any language, and WASI preview1 commands. A binary is validated,
 * clamped and metered once, in a process that can be killed; each call gets a fresh instance of the result.
 *
 * @module
 */
import type { ComponentInit, Preopen } from '../../../../guest/protocol.ts';
import { SkillError } from '../../../errors.ts';
import type { Bundle, FileDigests } from '../../../load/bundle.ts';
import type { Finding } from '../../../load/inspection.ts';
import { FUEL, wasm, type OwnEnforcement } from '../node-process/wasm-enforcement.ts';
import type { Grant } from '../../../policy/grant.ts';
import { foldersAround, hasWritable } from '../../../policy/guest-folders.ts';
import type { Artifact, Engine, LaunchSpec } from '../../contract.ts';
import { stageGuestCode } from '../node-process/guest-code.ts';
import { heapLimitBehind } from '../node-process/heap-limit.ts';
import { findNode, type NodeBinary } from '../node-process/node-binary.ts';
import { SERVING_FLAGS } from '../node-process/serving-flags.ts';
import { nodeSpec } from '../node-process/spec.ts';
import { markInUse } from '../node-process/staged-folders.ts';
import { unboundStart } from '../node-process/unbound-start.ts';
import { WasmEngine } from '../node-process/wasm-engine.ts';
import { installBinary, type Installed } from './install.ts';

const PAGE_BYTES = 64 * 1024;
/** Fuel per millisecond of CPU time: more than any instruction mix burns, so that fuel errs on the generous side. */
const FUEL_PER_CPU_MS = 4_000_000;
/** Maximum memory that a binary may declare; the grant of a call clamps it further. */
const MAX_PAGES = 65_536;
/** Per bundle. A skill runs only one binary, but all of them are inspected. */
const MAX_BINARIES = 8;

/** V8's inlining budget is in bytes (5000 by default), and metering makes code up to half as large again. */
export const INLINING_FLAG = '--wasm-inlining-budget=8000';

export class ComponentEngine extends WasmEngine implements Engine {
  readonly name = 'component';
  protected readonly inWasm: OwnEnforcement = IN_WASM;
  #staged: { node: NodeBinary; code: string } | undefined;

  fixedEnv(): Readonly<Record<string, string>> {
    return {};
  }

  describe(): string {
    return 'own linker and WASI host on V8';
  }

  missing(): undefined {
    return undefined;
  }

  refuses(bundle: Bundle): string | undefined {
    return bundle.entry.endsWith('.wasm') ? undefined : `the engine component cannot run "${bundle.entry}"`;
  }

  /** Lists the imports of the binaries of a bundle. */
  async inspect(stagedDir: string, files: FileDigests): Promise<Finding[]> {
    const binaries = Object.keys(files).filter((name) => name.endsWith('.wasm'));
    if (binaries.length > MAX_BINARIES) throw tooManyBinaries(binaries.length);
    const found: Finding[] = [];
    // Sequential: untrusted input decides how many there are, and each one starts a process.
    for (const name of binaries) {
      const { plan } = await this.#install(stagedDir, name, files[name] ?? '');
      found.push(...plan.imports.map((value) => ({ value, at: name })));
    }
    return found;
  }

  async prepare(bundle: Bundle): Promise<Artifact> {
    const guest = this.#guest();
    const { folder } = await this.#install(bundle.stagedDir, bundle.entry, bundle.files[bundle.entry] ?? '');
    const start = (grant: Grant, artifact: string): LaunchSpec => {
      for (const used of [guest.code, folder]) markInUse(used);
      return nodeSpec({
        ...guest,
        entry: 'cell/main.cjs',
        args: ['/artifact'],
        mounts: [{ host: artifact, guest: '/artifact' }],
        flags: [
          ...SERVING_FLAGS,
          '--stack-size=900',
          `--wasm-max-mem-pages=${pagesOf(grant)}`,
          INLINING_FLAG,
        ],
      });
    };
    return {
      engine: 'component',
      bundle,
      spec: (grant) => start(grant, folder),
      unbound: unboundStart(start, folder),
      init: callInit,
      limitBehind: heapLimitBehind,
    };
  }

  async #install(stagedDir: string, file: string, digest: string): Promise<Installed> {
    const { home, wall } = this.options;
    const guest = this.#guest();
    return installBinary({ home, guest, wall: await wall(), stagedDir, file, digest, maxPages: MAX_PAGES });
  }

  /** Node and the guest code that cells run, staged on first use. */
  #guest(): { node: NodeBinary; code: string } {
    const { home } = this.options;
    this.#staged ??= { node: findNode(home), code: stageGuestCode(home, 'wasm') };
    return this.#staged;
  }
}

function tooManyBinaries(count: number): SkillError {
  return new SkillError(
    'manifest_invalid',
    `The bundle has ${count} WebAssembly binaries; at most ${MAX_BINARIES} are allowed`,
    { fix: 'Keep only the binary that "entry" names.', detail: { binaries: count } },
  );
}

function pagesOf({ limits }: Grant): number {
  return Math.floor(limits.memory / PAGE_BYTES);
}

function callInit(grant: Grant): ComponentInit {
  const { limits, env } = grant;
  return {
    env,
    preopens: preopensOf(grant),
    limits: {
      pages: pagesOf(grant),
      output: limits.output,
      fuel: limits.cpu * FUEL_PER_CPU_MS,
    },
  };
}

/** The folders of a cell, with the ids under which the broker knows them. */
function preopensOf({ filesystem }: Grant): Preopen[] {
  const folders = [...filesystem, ...foldersAround(filesystem).map((guest) => ({ guest, isFile: false }))];
  return [
    { id: 0, guestPath: '/skill', writable: false },
    ...folders.flatMap(({ guest, isFile }, at) =>
      isFile ? [] : [{ id: at + 1, guestPath: guest, writable: hasWritable(guest, filesystem) }],
    ),
  ];
}

/** Enforced by Wasm itself: a component cannot do this at all, or only by asking the host. */
const IN_WASM = {
  cpu: FUEL,
  syscalls: wasm('a component has none'),
  memory: wasm('maximum of all linear memories together, and a limit on the process around it'),
  processes: wasm('a component cannot start any'),
  scratch: wasm('a component has none'),
};
