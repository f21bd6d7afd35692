/**
 * The engine `component`: WebAssembly components of any language, and WASI preview1 commands. A binary is validated,
 * clamped and metered once, in a process that can be killed; each call gets a fresh instance of the result.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import type { Bundle, FileDigests } from '../../load/bundle.ts';
import type { Finding } from '../../load/inspection.ts';
import type { Enforcement, EnforcementTable } from '../../policy/enforcement.ts';
import type { Grant } from '../../policy/grant.ts';
import { foldersAround, hasWritable } from '../../policy/guest-folders.ts';
import type { Artifact, Engine, LaunchSpec, Wall } from '../contract.ts';
import { stageGuestCode } from '../node/guest-code.ts';
import { heapLimitBehind } from '../node/heap-limit.ts';
import { findNode, type NodeBinary } from '../node/node-binary.ts';
import { nodeSpec } from '../node/spec.ts';
import { markInUse } from '../node/staged-folders.ts';
import { installBinary, type Installed } from './install.ts';

const PAGE_BYTES = 64 * 1024;
/** Fuel of a millisecond of CPU time: more than any instruction mix uses up in one, so that it rather lasts longer. */
const FUEL_PER_CPU_MS = 4_000_000;
/** Memory that the binary may declare at most; the grant of a call clamps it further. */
const MAX_PAGES = 65_536;
/** Of one bundle. A skill runs one; every one is looked at. */
const MAX_BINARIES = 8;

/** V8 decides by bytes what it inlines (5000 is its default), and metered code has up to half as many more. */
export const INLINING_FLAG = '--wasm-inlining-budget=8000';

export interface ComponentEngineOptions {
  home: string;
  /** The strongest wall that this machine has; found out by trying. */
  wall: () => Promise<Wall>;
}

export class ComponentEngine implements Engine {
  readonly name = 'component';
  readonly reusable = true;
  readonly #options: ComponentEngineOptions;
  #staged: { node: NodeBinary; code: string } | undefined;

  constructor(options: ComponentEngineOptions) {
    this.#options = options;
  }

  enforces(wall: EnforcementTable): EnforcementTable {
    return { ...wall, ...IN_WASM };
  }

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

  /** What the binaries of a bundle import. */
  async inspect(stagedDir: string, files: FileDigests): Promise<Finding[]> {
    const binaries = Object.keys(files).filter((name) => name.endsWith('.wasm'));
    if (binaries.length > MAX_BINARIES) throw tooManyBinaries(binaries.length);
    const found: Finding[] = [];
    // One after the other: a stranger decides how many there are, and each is a process.
    for (const name of binaries) {
      const { plan } = await this.#install(stagedDir, name, files[name] ?? '');
      found.push(...plan.imports.map((value) => ({ value, at: name })));
    }
    return found;
  }

  async prepare(bundle: Bundle): Promise<Artifact> {
    const guest = this.#guest();
    const { folder } = await this.#install(bundle.stagedDir, bundle.entry, bundle.files[bundle.entry] ?? '');
    const spec = (grant: Grant): LaunchSpec => {
      for (const used of [guest.code, folder]) markInUse(used);
      return nodeSpec({
        ...guest,
        entry: 'cell/main.js',
        args: ['/artifact'],
        mounts: [{ host: folder, guest: '/artifact' }],
        flags: [
          '--max-old-space-size=96',
          '--stack-size=900',
          '--expose-gc',
          `--wasm-max-mem-pages=${pagesOf(grant)}`,
          INLINING_FLAG,
        ],
      });
    };
    return { engine: 'component', bundle, spec, init: callInit, limitBehind: heapLimitBehind };
  }

  async #install(stagedDir: string, file: string, digest: string): Promise<Installed> {
    const { home, wall } = this.#options;
    const guest = this.#guest();
    return installBinary({ home, guest, wall: await wall(), stagedDir, file, digest, maxPages: MAX_PAGES });
  }

  /** What runs inside of cells; made on first use. */
  #guest(): { node: NodeBinary; code: string } {
    const { home } = this.#options;
    this.#staged ??= { node: findNode(home), code: stageGuestCode(home, 'wasm') };
    return this.#staged;
  }
}

function tooManyBinaries(count: number): SkillError {
  return new SkillError(
    'manifest_invalid',
    `The bundle has ${count} WebAssembly binaries, and ${MAX_BINARIES} is the most`,
    { fix: 'Keep only the binary that "entry" names.', detail: { binaries: count } },
  );
}

function pagesOf({ limits }: Grant): number {
  return Math.floor(limits.memory / PAGE_BYTES);
}

function callInit(grant: Grant): Record<string, unknown> {
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

/** The folders of a cell, by the numbers that the broker has for them. */
function preopensOf({ filesystem }: Grant): { id: number; guestPath: string; writable: boolean }[] {
  const folders = [...filesystem, ...foldersAround(filesystem).map((guest) => ({ guest, isFile: false }))];
  return [
    { id: 0, guestPath: '/skill', writable: false },
    ...folders.flatMap(({ guest, isFile }, at) =>
      isFile ? [] : [{ id: at + 1, guestPath: guest, writable: hasWritable(guest, filesystem) }],
    ),
  ];
}

const wasm = (how: string): Enforcement => ({ by: 'wasm', how });
const broker = (how: string): Enforcement => ({ by: 'broker', how });
const nobody = (how: string): Enforcement => ({ by: 'nobody', how });

/** What a component cannot do at all, or only by asking. */
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
  cpu: wasm('fuel: every run of the same call counts the same; and the CPU time of the call is watched'),
  syscalls: wasm('a component has none'),
  memory: wasm('maximum of all linear memories together, and a limit on the process around it'),
  output: wasm('counted where it is written'),
  processes: wasm('a component cannot start any'),
  scratch: wasm('a component has none'),
} satisfies Partial<EnforcementTable>;
