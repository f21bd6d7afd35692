/**
 * A host that does not run as root. It receives calls from its parent over IPC and replies with their outcomes.
 *
 * @module
 */
import { createRuntime, type ExecuteOptions } from '../../src/index.ts';
import { TEST_ENV } from './test-runtime.ts';

export interface CallMessage {
  id: number;
  dir: string;
  params: unknown;
  options: Omit<ExecuteOptions, 'signal'>;
}

export interface AbortMessage {
  abort: number;
}

const home = process.argv[2] ?? '';
const runtime = createRuntime({ home, cwd: '/', env: TEST_ENV, allowEnv: 'all', pool: { size: 0 } });
const running = new Map<number, AbortController>();

async function answer({ id, dir, params, options }: CallMessage): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  const { signal } = controller;
  const outcome = await runtime.execute(dir, params, {
    ...options,
    execution: 'subprocess',
    signal,
    reject: false,
  });
  running.delete(id);
  process.send?.({ id, outcome });
}

process.on('message', (message: CallMessage | AbortMessage) => {
  if ('abort' in message) running.get(message.abort)?.abort();
  else void answer(message);
});
process.on('disconnect', () => void runtime.close());
process.send?.({ uid: process.getuid?.(), doctor: await runtime.doctor() });
