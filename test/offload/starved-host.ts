/**
 * A host that cannot start threads for a while, and then can again.
 *
 * @module
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Offload } from '../../src/offload/offload.ts';
import type { Task } from '../../src/offload/task.ts';

const ECHO: Task<{ value: number }, { value: number }> = {
  module: new URL('./test-tasks.ts', import.meta.url).href,
  name: 'echo',
};
const offload = new Offload({ threads: 2 });
const options = { deadlineMs: 20_000, owner: 'test' };
const starved: unknown[] = [];

// Started in advance, because a host without processes could not start the program that raises the limit again.
const script = `read line; prlimit --pid=${process.pid} --nproc=4096:`;
const helper = spawn('sh', ['-c', script], { stdio: ['pipe', 'inherit', 'inherit'] });
// Threads count as processes of their user, who already has more than one.
execFileSync('prlimit', [`--pid=${process.pid}`, '--nproc=1:']);
for (let tasks = 0; tasks < 3; tasks++)
  starved.push(
    await offload.run(ECHO, { value: 0 }, options).then(
      () => 'done',
      (error: { code?: unknown }) => error.code,
    ),
  );
helper.stdin.end('go\n');
await once(helper, 'exit');
const { value } = await offload.run(ECHO, { value: 1 }, options);
await offload.close();
process.stdout.write(JSON.stringify({ starved, after: value }));
