/**
 * Serves calls of @anthropic-ai/sandbox-runtime in a separate process: it is a singleton with proxies, which would
 * disturb other measurements. Initialised once, then wrap and spawn per call, as its documentation says. A message is
 * { command, input }, the answer { ms, spawnMs, output }. With `load`, the answer is the throughput of that many callers.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { SandboxManager } from '@anthropic-ai/sandbox-runtime';
import { measureLoad } from './load.js';

const began = performance.now();
await SandboxManager.initialize({
  network: { allowedDomains: [], deniedDomains: [] },
  filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
});
process.on('message', async ({ command, input, load }) => {
  const once = () => run(command, input);
  process.send(load ? await measureLoad(async () => (await once()).output, load) : await once());
});
process.on('disconnect', async () => {
  await SandboxManager.reset();
  process.exit(0);
});
process.send({ initializeMs: performance.now() - began });

async function run(command, input) {
  const began = performance.now();
  const wrapped = await SandboxManager.wrapWithSandbox(command);
  const wrappedAt = performance.now();
  const child = spawn(wrapped, { shell: true, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(input);
  const output = await text(child.stdout);
  const ended = performance.now();
  if (child.exitCode === null && child.signalCode === null) {
    await new Promise((resolve) => child.once('exit', resolve));
  }
  SandboxManager.cleanupAfterCommand();
  return { ms: ended - began, spawnMs: ended - wrappedAt, output };
}
