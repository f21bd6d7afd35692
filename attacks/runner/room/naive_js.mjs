/**
 * The harness of a careless runtime for JavaScript: imports the skill into its own process, with all its rights and shared
 * globals for all calls. It exists to show that attacks work.
 */
import * as fs from 'node:fs';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';

const { calls } = JSON.parse(fs.readFileSync(0, 'utf8'));
const FILES = `
import { promises } from 'node:fs';
import { resolve } from 'node:path';
export const readFile = (path, encoding) => promises.readFile(resolve('/skill', path.split('\\0')[0]), encoding);
export const readDir = (path) => promises.readdir(path, { withFileTypes: true });
export const stat = (path) => promises.stat(path);
`;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'skillcell:fs'
      ? { url: `data:text/javascript,${encodeURIComponent(FILES)}`, shortCircuit: true }
      : next(specifier, context),
});

const { stringify } = JSON;
const { writeSync } = fs;
const { alloc, concat, from } = Buffer;

// As it is printed, and not when there is time.
console.log = console.error = (...words) => writeSync(1, `${words.join(' ')}\n`);

function reply(value) {
  const body = from(stringify({ t: 'result', value }));
  const length = alloc(4);
  length.writeUInt32LE(body.length);
  writeSync(3, concat([length, body]));
}

const { execute } = await import(resolve('/skill', 'skill.js'));
let value;
for (const params of calls) value = await execute(params);
reply(value);
process.exit(0);
