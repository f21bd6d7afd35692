/**
 * Prepares the source of a bundle, in a process that can be killed: `prepare.js <folder> <bundle>`, with the names of the
 * files in `<folder>/input` and the output in `<folder>/made`.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { prepareSources } from './sources.ts';

const [, , folder = '', bundle = ''] = process.argv;
const { entry, files } = JSON.parse(readFileSync(`${folder}/input/input.json`, 'utf8')) as {
  entry: string;
  files: string[];
};
const texts = new Map(files.map((path) => [path, readFileSync(`${bundle}/${path}`, 'utf8')]));
const { modules, findings } = prepareSources(texts, entry);
mkdirSync(`${folder}/made`);
writeFileSync(`${folder}/made/modules.json`, JSON.stringify(modules));
writeFileSync(`${folder}/made/findings.json`, JSON.stringify(findings));
