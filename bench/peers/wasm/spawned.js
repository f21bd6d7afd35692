/** The job as a program: params on stdin, result on stdout. Runs on Node and on Deno. */
import { readFileSync } from 'node:fs';
import { execute } from './job.js';

console.log(execute(readFileSync(0, 'utf8')));
