/**
 * Reads the output of the installer, and the folders of the cell that the guest sees.
 *
 * @module
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { hashRelayModule } from '../engine/host-hash.ts';
import type { EngineCode, Image } from '../engine/interpreter.ts';
import { loadLibraries } from '../dlopen/files.ts';
import { FixedTree } from '../files/fixed-tree.ts';
import type { EngineFacts } from '../install/build.ts';

export interface Engine {
  code: EngineCode;
  image: Image;
  facts: EngineFacts;
  /** Contains the standard library. */
  library: FixedTree;
}

/** `imageFolder` contains the base image, which is renewed from time to time, unlike the code. */
export function readEngine(folder: string, imageFolder: string, packages: string = ''): Engine {
  const read = (name: string): Uint8Array => readFileSync(`${folder}/${name}`);
  const facts = JSON.parse(readFileSync(`${imageFolder}/engine.json`, 'utf8')) as EngineFacts;
  const library = new FixedTree();
  const size = statSync(`${folder}/library.zip`).size;
  library.addFile(['python314.zip'], size, () => read('library.zip'));
  return {
    code: {
      module: new WebAssembly.Module(read('engine.wasm')),
      trampoline: new WebAssembly.Module(read('trampoline.wasm')),
      hashRelay: new WebAssembly.Module(hashRelayModule()),
      libraries: facts.linked && loadLibraries(facts.linked, packages),
    },
    image: { memory: readFileSync(`${imageFolder}/image.bin`), stackPointer: facts.stackPointer },
    facts,
    library,
  };
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
