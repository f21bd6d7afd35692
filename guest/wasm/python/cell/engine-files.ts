/**
 * Reads the output of the installer, and the folders of the cell that the guest sees.
 *
 * @module
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { hashRelayModule } from '../engine/hash-table.ts';
import type { EngineCode, Image } from '../engine/interpreter.ts';
import { loadLibraries } from '../dlopen/files.ts';
import { FixedTree } from '../files/fixed-tree.ts';
import { release } from '../../imaged/garbage.ts';
import type { StoredBytes } from '../../imaged/memory.ts';
import { FileBytes } from '../../imaged/stored.ts';
import type { EngineFacts } from '../install/build.ts';

const IMAGE_FILE = 'image.bin';

export interface Engine<Memory = Uint8Array> {
  code: EngineCode;
  image: Image<Memory>;
  facts: EngineFacts;
  /** Contains the standard library. */
  library: FixedTree;
}

/** Where the parts of the engine are. */
export interface EnginePlaces {
  code: string;
  /** Contains the base image, which is renewed from time to time, unlike the code. */
  image: string;
  packages?: string;
}

export function readEngine(code: string, image: string, packages?: string): Engine {
  const { facts, ...rest } = readParts({ code, image, ...(packages === undefined ? {} : { packages }) });
  const memory = readFileSync(`${image}/${IMAGE_FILE}`);
  return { ...rest, facts, image: { memory, stackPointer: facts.stackPointer } };
}

/** The same, but the image stays in its file. */
export function openEngine(places: EnginePlaces): Engine<StoredBytes> {
  const { facts, ...rest } = readParts(places);
  const memory = new FileBytes(`${places.image}/${IMAGE_FILE}`);
  return { ...rest, facts, image: { memory, stackPointer: facts.stackPointer } };
}

function readParts({ code: folder, image: imageFolder, packages = '' }: EnginePlaces): Omit<Engine, 'image'> {
  const read = (name: string): Uint8Array => readFileSync(`${folder}/${name}`);
  const facts = JSON.parse(readFileSync(`${imageFolder}/engine.json`, 'utf8')) as EngineFacts;
  const library = new FixedTree();
  const size = statSync(`${folder}/library.zip`).size;
  library.addFile(['python314.zip'], size, () => read('library.zip'));
  return {
    code: {
      module: compile(`${folder}/engine.wasm`),
      trampoline: compile(`${folder}/trampoline.wasm`),
      hashRelay: new WebAssembly.Module(hashRelayModule()),
      libraries: facts.linked && loadLibraries(facts.linked, packages),
    },
    facts,
    library,
  };
}

function compile(file: string): WebAssembly.Module {
  const bytes = readFileSync(file);
  const module = new WebAssembly.Module(bytes);
  // V8 has its own copy.
  release(bytes);
  return module;
}

/** Adds a folder that does not change while the cell exists, such as the bundle, to the tree. */
export function readFolder(folder: string, tree: FixedTree = new FixedTree()): FixedTree {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const full = `${entry.parentPath}/${entry.name}`;
    const path = full.slice(folder.length + 1).split('/');
    if (entry.isDirectory()) tree.addFolder(path);
    else if (entry.isFile()) tree.addFile(path, statSync(full).size, () => readFileSync(full));
  }
  return tree;
}
