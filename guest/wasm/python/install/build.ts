/**
 * Builds an image from Pyodide's files: rewrites the module, compiles its standard library with it, and boots it with that.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { boot, findFunction, runSource } from '../engine/boot.ts';
import { KEPT_EXPORTS, REFERENCE_TABLES } from '../engine/exports.ts';
import { Interpreter, PAGE_BYTES, type EngineCode, type Image, type Layout } from '../engine/interpreter.ts';
import { markStores } from '../engine/mark-stores.ts';
import { rewriteModule, type DataSegment } from '../engine/rewrite.ts';
import { tableArities, trampolineModule } from '../engine/trampoline.ts';
import { ports } from '../cell/ports.ts';
import { READ_ONLY } from '../files/contract.ts';
import { DeviceTree } from '../files/devices.ts';
import { FixedTree } from '../files/fixed-tree.ts';
import { Mounts } from '../files/mounts.ts';
import { Quota, ScratchTree } from '../files/scratch.ts';
import { linkLibraries } from '../dlopen/link.ts';
import type { LinkPlan } from '../dlopen/plan.ts';
import type { Ports } from '../host/context.ts';
import { GuestProcess } from '../host/process.ts';
import { checkImports } from './known-imports.ts';

const MIN_PAGES = 128;
const MAX_PAGES = 65_536;
const BUILD_PAGES = 8192;
const BUILD_SCRATCH_BYTES = 256 * 1024 * 1024;
const LIBRARY = '/lib/python314.zip';

/** Variables of every cell; granted variables are added to them. */
const BASE_ENV = { PATH: '/usr/bin:/bin', HOME: '/tmp', TMPDIR: '/tmp', LANG: 'C.UTF-8' };

export interface EngineInput {
  engine: Uint8Array;
  library: Uint8Array;
  /** True if the library was compiled before, and only a new image is needed. */
  isCompiled: boolean;
  /** `boot` and `compile` are scripts; `added` are modules, and additions to library modules, by path. */
  sources: { boot: string; compile: string; added: Record<string, string> };
  /** Native code of packages, by path inside the guest. */
  libraries: ReadonlyMap<string, Uint8Array>;
  /** Receives what the interpreter prints. */
  report: (text: string) => void;
}

/** What a cell must know about the files next to it. */
export interface EngineFacts {
  layout: Layout;
  stackPointer: number;
  /** sha256 of the image. */
  digest: string;
  /** Addresses of the Python functions that a cell calls. */
  functions: { prepare: number; load: number; serve: number };
  /** The native code of packages in the image. */
  linked?: LinkPlan | undefined;
}

export interface BuiltEngine {
  module: Uint8Array;
  trampoline: Uint8Array;
  library: Uint8Array;
  image: Image<Uint8Array>;
  facts: EngineFacts;
}

export function buildEngine(input: EngineInput): BuiltEngine {
  const { engine, sources } = input;
  const linked = linkLibraries(engine, input.libraries);
  const { module: unmarked, data } = rewriteModule(engine, {
    minPages: MIN_PAGES,
    maxPages: MAX_PAGES,
    keep: [...KEPT_EXPORTS, ...(linked?.engineExports ?? [])],
    tables: REFERENCE_TABLES,
  });
  const module = markStores(unmarked);
  const trampoline = markStores(linked?.trampoline ?? trampolineModule(tableArities(engine)));
  const code = {
    module: new WebAssembly.Module(module),
    trampoline: new WebAssembly.Module(trampoline),
    libraries: linked?.code,
  };
  checkImports(code.module);
  const library = input.isCompiled ? input.library : compileLibrary({ ...input, code, data });
  const { interpreter, layout } = start({ ...input, code, data, library, scratch: newScratch() });
  runSource(interpreter, sources.boot);
  const find = (name: string): number => findFunction(interpreter, name);
  const functions = { prepare: find('prepare'), load: find('load'), serve: find('serve') };
  const image = interpreter.takeImage(layout);
  return {
    module,
    trampoline,
    library,
    image,
    facts: {
      layout,
      stackPointer: image.stackPointer,
      digest: sha256(image.memory),
      functions,
      linked: linked?.code.plan,
    },
  };
}

interface Started extends EngineInput {
  code: EngineCode;
  data: DataSegment[];
}

function compileLibrary(input: Started): Uint8Array {
  const scratch = newScratch();
  const { interpreter } = start({ ...input, scratch });
  runSource(interpreter, input.sources.compile);
  const file = scratch.open(['library.zip'], READ_ONLY);
  const archive = new Uint8Array(file.stat().size);
  file.read(archive, 0);
  return archive;
}

function start(input: Started & { scratch: ScratchTree }): { interpreter: Interpreter; layout: Layout } {
  const { code, data } = input;
  const heapStart = code.libraries?.plan.end;
  const outside = ports((exitCode) => {
    throw new Error(`The engine exited with code ${exitCode} while it was being prepared`);
  });
  const process = new GuestProcess({
    mounts: mountsFor(input, outside),
    onOutput: (bytes) => input.report(new TextDecoder().decode(bytes)),
    channel: new DeviceTree(outside.random).open(['null'], READ_ONLY),
  });
  const interpreter = new Interpreter({
    code,
    initialPages: pagesFor(data, heapStart),
    maxPages: BUILD_PAGES,
    surroundings: { process, ports: outside, env: BASE_ENV },
  });
  const hashSeed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 1;
  const layout = boot(interpreter, { data, library: LIBRARY, hashSeed, heapStart });
  interpreter.libraries?.initialise();
  return { interpreter, layout };
}

function mountsFor(
  { library, sources, scratch }: Started & { scratch: ScratchTree },
  { random }: Ports,
): Mounts {
  const mounts = new Mounts();
  const lib = new FixedTree();
  lib.addFile(['python314.zip'], library.length, () => library);
  lib.addFile(['source.zip'], library.length, () => library);
  const added = new FixedTree();
  for (const [path, text] of Object.entries(sources.added)) {
    const bytes = new TextEncoder().encode(text);
    added.addFile(path.split('/'), bytes.length, () => bytes);
  }
  mounts.mount('/lib', lib);
  mounts.mount('/added', added);
  mounts.mount('/dev', new DeviceTree(random));
  mounts.mount('/tmp', scratch);
  return mounts;
}

function pagesFor(data: DataSegment[], heapStart: number = 0): number {
  const end = data.reduce((most, { address, bytes }) => Math.max(most, address + bytes.length), heapStart);
  return Math.max(MIN_PAGES, Math.ceil(end / PAGE_BYTES) + 64);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function newScratch(): ScratchTree {
  return new ScratchTree({ quota: new Quota(BUILD_SCRATCH_BYTES), now: () => Date.now() });
}
