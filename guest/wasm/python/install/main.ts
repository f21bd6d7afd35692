/**
 * Prepares what every Python cell starts from: the rewritten engine, the compiled standard library and the base image.
 * Runs in a process that can be killed: `main.js <folder> [<packages>]`, with the input in `<folder>/input`. Writes the folders
 * `code` and `image` once per version; if the library is already compiled, only another `image` with a new hash seed.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { findLibraries } from '../dlopen/files.ts';
import { buildEngine, type EngineInput } from './build.ts';

interface InputFile {
  /** Digests that the input must have. */
  sha256: { engine: string; library: string };
  sources: EngineInput['sources'];
  isCompiled: boolean;
  threads: boolean;
}

const [, , folder = '', packages] = process.argv;
const read = (name: string): Uint8Array => new Uint8Array(readFileSync(`${folder}/input/${name}`));
const { sha256, sources, isCompiled, threads } = JSON.parse(
  readFileSync(`${folder}/input/input.json`, 'utf8'),
) as InputFile;
const engine = demand(read('engine.wasm'), sha256.engine);
const library = demand(read('library.zip'), sha256.library);
const report = (text: string): unknown => process.stderr.write(text);
const onStep = (step: string): unknown => process.stdout.write(`${step}\n`);
const libraries = packages === undefined ? new Map<string, Uint8Array>() : findLibraries(packages);
const built = buildEngine({ engine, library, isCompiled, threads, sources, libraries, report, onStep });

write('image', { 'image.bin': built.image.memory, 'engine.json': JSON.stringify(built.facts) });
if (!isCompiled) {
  write('code', {
    'engine.wasm': built.module,
    'trampoline.wasm': built.trampoline,
    'library.zip': built.library,
  });
}

function write(name: string, files: Record<string, Uint8Array | string>): void {
  mkdirSync(`${folder}/${name}`);
  for (const [file, content] of Object.entries(files)) writeFileSync(`${folder}/${name}/${file}`, content);
}

function demand(bytes: Uint8Array, digest: string): Uint8Array {
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== digest) throw new Error(`The engine has an unexpected digest: ${found}`);
  return bytes;
}
