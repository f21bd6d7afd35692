/**
 * `build.js <output>`: the peers' job as a component, with StarlingMonkey inside. No WASI features are enabled, because a
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
// Helpers that it started would keep the process alive.
process.exit();
