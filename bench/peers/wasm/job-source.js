/** The job as text, for peers that evaluate it: a script that leaves `execute` behind. */
import { readFileSync } from 'node:fs';

export const JOB_SCRIPT = readFileSync(new URL('job.js', import.meta.url), 'utf8').replace('export ', '');
