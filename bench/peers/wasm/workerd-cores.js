/** As many processes of workerd as there are cores, because one answers its requests on one thread. Each call goes to the next. */
import { availableParallelism } from 'node:os';
import { startWorkerd } from './workerd.js';

export async function start() {
  const servers = await Promise.all(
    Array.from({ length: availableParallelism() }, () => startWorkerd({ fresh: true })),
  );
  let calls = 0;
  return {
    call: (params) => servers[calls++ % servers.length].call(params),
    close: () => servers.forEach((server) => server.close()),
  };
}
