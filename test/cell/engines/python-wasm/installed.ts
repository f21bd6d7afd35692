/**
 * Access to the engine that a runtime has installed, for tests of its internals.
 *
 * @module
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PythonWasmInit } from '../../../../guest/protocol.ts';
import { openEngine, readEngine, type Engine } from '../../../../guest/wasm/python/cell/engine-files.ts';
import type { StoredBytes } from '../../../../guest/wasm/imaged/memory.ts';
import { ports } from '../../../../guest/wasm/python/cell/ports.ts';
import { PythonCell } from '../../../../guest/wasm/python/cell/python-cell.ts';
import { FixedTree } from '../../../../guest/wasm/python/files/fixed-tree.ts';

/** Folders of all base images, oldest first. */
export function imageFolders(home: string): string[] {
  const engines = join(home, 'python-wasm');
  const [name = ''] = readdirSync(engines);
  const images = join(engines, name, 'images');
  return readdirSync(images)
    .toSorted()
    .map((image) => join(images, image));
}

export function readInstalled(home: string): Engine {
  const [image = ''] = imageFolders(home);
  return readEngine(join(image, '..', '..', 'code'), join(image, 'base'));
}

/** The same with the image in its file, as in a cell. */
export function openInstalled(home: string): Engine<StoredBytes> {
  const [image = ''] = imageFolders(home);
  return openEngine({ code: join(image, '..', '..', 'code'), image: join(image, 'base') });
}

/** Files of the skill images saved for the newest base image. */
export function savedImages(home: string): string[] {
  const skills = join(imageFolders(home).at(-1) ?? '', 'skills');
  try {
    return readdirSync(skills).map((key) => join(skills, key, 'image.bin'));
  } catch {
    return [];
  }
}

export interface TestCellOptions {
  engine: Engine<Uint8Array | StoredBytes>;
  source: string;
  saved?: Buffer | undefined;
  pages?: number;
  newInstance?: boolean;
}

/** Opens a cell in this process for one skill without grants. */
export function openCell({
  engine,
  source,
  saved,
  pages = 2048,
  newInstance = false,
}: TestCellOptions): PythonCell {
  const bundle = new FixedTree();
  const bytes = new TextEncoder().encode(source);
  bundle.addFile(['skill.py'], bytes.length, () => bytes);
  const init: PythonWasmInit = {
    fresh: { newInstance, strict: false },
    keepBytes: 1 << 24,
    limits: { pages, output: 1 << 20, scratch: 1 << 20 },
    preopens: [],
    harness: {
      task: 'call',
      entry: 'skill.py',
      view: { read: [], write: [], processes: false, env: [], observe: false },
      manifest: {},
      env: {},
      network: false,
      siblings: ['skill'],
    },
  };
  const outside = ports((code) => {
    throw new Error(`The guest ended with ${code}`);
  });
  return new PythonCell({
    engine,
    init,
    folders: { '/skill': bundle },
    ports: outside,
    saved,
    collect: () => undefined,
  });
}

/** The result of a call, as JSON. */
export function callCell(cell: PythonCell, params: unknown = {}): unknown {
  const line = { ask: (): never => fail(), log: () => undefined, denied: () => undefined };
  const { body, payload } = cell.call(new TextEncoder().encode(JSON.stringify(params)), line);
  cell.reset();
  return payload ? JSON.parse(new TextDecoder().decode(payload)) : body;
}

function fail(): never {
  throw new Error('The broker is not available here');
}
