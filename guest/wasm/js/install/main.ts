/**
 * Prepares the engine that every JavaScript cell starts from. Runs in a process that can be killed: `main.js <folder>`,
 * with the input in `<folder>/input` and the output in `<folder>/code`.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rewriteEngine } from './engine.ts';

const [, , folder = ''] = process.argv;
const { sha256 } = JSON.parse(readFileSync(`${folder}/input/input.json`, 'utf8')) as { sha256: string };
const engine = new Uint8Array(readFileSync(`${folder}/input/engine.wasm`));
const { module, facts } = rewriteEngine(engine, sha256);
mkdirSync(`${folder}/code`);
writeFileSync(`${folder}/code/engine.wasm`, module);
writeFileSync(`${folder}/code/facts.json`, JSON.stringify(facts));
