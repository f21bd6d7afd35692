/**
 * Builds an image from Pyodide's files: rewrites the module, compiles its standard library with it, and boots it with that.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { findFunction, runSource } from '../engine/boot.ts';
import { KEPT_EXPORTS, OWN_TABLES } from '../engine/exports.ts';
import { hashRelayModule } from '../engine/hash-table.ts';
import { withHostHash } from '../engine/host-hash.ts';
import type { Image, Layout } from '../engine/interpreter.ts';
import { markStores } from '../engine/mark-stores.ts';
import { rewriteModule, type DataSegment } from '../engine/rewrite.ts';
import { tableArities, trampolineModule } from '../engine/trampoline.ts';
import { linkLibraries } from '../dlopen/link.ts';
import type { LinkPlan } from '../dlopen/plan.ts';
import { beginLibrary, compileAll } from './compile-library.ts';
import { checkImports } from './known-imports.ts';
import { MIN_PAGES, start } from './start.ts';

const MAX_PAGES = 65_536;

export interface EngineInput {
  engine: Uint8Array;
  library: Uint8Array;
  /** True if the library was compiled before, and only a new image is needed. */
  isCompiled: boolean;
  /** Whether a second thread may compile a part of the library. */
  threads: boolean;
  /** `boot` and `compile` are scripts; `added` are modules, and additions to library modules, by path. */
  sources: { boot: string; compile: string; added: Record<string, string> };
  /** Native code of packages, by path inside the guest. */
  libraries: ReadonlyMap<string, Uint8Array>;
  /** Receives what the interpreter prints. */
  report: (text: string) => void;
  /** Called when a step begins that takes some time. */
  onStep: (step: 'rewrite' | 'library' | 'image') => void;
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
  const { engine, sources, report, onStep } = input;
  onStep('rewrite');
  const linked = linkLibraries(engine, input.libraries);
  const { module: unmarked, data } = rewriteModule(withHostHash(engine), {
    minPages: MIN_PAGES,
    maxPages: MAX_PAGES,
    keep: [...KEPT_EXPORTS, ...(linked?.engineExports ?? [])],
    tables: OWN_TABLES,
  });
  const plainTrampoline = trampolineModule(tableArities(engine));
  const finishLibrary = libraryOf(input, { unmarked, plainTrampoline, data });
  const module = markStores(unmarked);
  const trampoline = markStores(linked?.trampoline ?? plainTrampoline);
  const code = {
    module: new WebAssembly.Module(module),
    trampoline: new WebAssembly.Module(trampoline),
    hashRelay: new WebAssembly.Module(hashRelayModule()),
    libraries: linked?.code,
  };
  checkImports(code.module);
  onStep('library');
  const library = finishLibrary();
  onStep('image');
  const { interpreter, layout } = start({ code, data, library, added: sources.added, report });
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

interface Unmarked {
  unmarked: Uint8Array;
  plainTrampoline: Uint8Array;
  data: DataSegment[];
}

/** Compiled with an engine without marks, which is faster. */
function libraryOf(
  { library, sources, isCompiled, threads, report }: EngineInput,
  { unmarked, plainTrampoline, data }: Unmarked,
): () => Uint8Array {
  if (isCompiled) return () => library;
  const code = {
    module: new WebAssembly.Module(unmarked),
    trampoline: new WebAssembly.Module(plainTrampoline),
    hashRelay: new WebAssembly.Module(hashRelayModule()),
  };
  const { compile, added } = sources;
  const work = { code, data, library, script: compile, added };
  return threads ? beginLibrary(work, report) : () => compileAll(work, report);
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
