/**
 * `build.js <output>`: the job of the peers as a component, with StarlingMonkey inside. Nothing of WASI is switched on: a
 * skill that declares nothing may import nothing.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { componentize } from '@bytecodealliance/componentize-js';

const [, , output] = process.argv;
const job = readFileSync(new URL('../peers/wasm/job.js', import.meta.url), 'utf8');
const { component } = await componentize(job, {
  witWorld: `
    package skillcell:skill@0.1.0;
    world skill {
      export execute: func(params: string) -> result<string, string>;
    }`,
  disableFeatures: ['random', 'stdio', 'clocks', 'http', 'fetch-event'],
});
writeFileSync(output, component);
// What it started to do its work would keep the process alive.
process.exit();
