/** The job as text, for peers that evaluate it: a script that defines `execute`. */
import { readFileSync } from 'node:fs';

export const JOB_SCRIPT = readFileSync(new URL('job.js', import.meta.url), 'utf8').replace('export ', '');
