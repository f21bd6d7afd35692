/**
 * Makes what every Python cell starts from: the rewritten engine, the compiled standard library and the base image.
 * Runs once per version, in a process that can be killed: `main.js <folder>`, with the input in `<folder>/input`.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { buildEngine, type EngineInput } from './build.ts';

interface InputFile {
  /** Digests that the input has to have. */
  sha256: { engine: string; library: string };
  sources: EngineInput['sources'];
}

const [, , folder = ''] = process.argv;
const read = (name: string): Uint8Array => new Uint8Array(readFileSync(`${folder}/input/${name}`));
const { sha256, sources } = JSON.parse(readFileSync(`${folder}/input/input.json`, 'utf8')) as InputFile;
const engine = demand(read('engine.wasm'), sha256.engine);
const library = demand(read('library.zip'), sha256.library);
const built = buildEngine({ engine, library, sources, report: (text) => process.stderr.write(text) });

writeFileSync(`${folder}/engine.wasm`, built.module);
writeFileSync(`${folder}/trampoline.wasm`, built.trampoline);
writeFileSync(`${folder}/library.zip`, built.library);
writeFileSync(`${folder}/image.bin`, built.image.memory);
writeFileSync(`${folder}/engine.json`, JSON.stringify(built.facts));

function demand(bytes: Uint8Array, digest: string): Uint8Array {
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== digest) throw new Error(`The engine is not the one that was checked: ${found}`);
  return bytes;
}
