/**
 * Entry of the process of one peer: `host.js <module>` answers every message with how long one call took in it.
 * A peer is a module whose `start` returns `{ call(params) → result, close? }`, both JSON text; each call creates a
 * new sandbox. A message with `load` is answered with the throughput of that many callers.
 */
import { measureLoad } from './load.js';

const [, , name] = process.argv;
const { start } = await import(`./${name}.js`);
const peer = await start();

process.on('message', async ({ params, load }) => {
  if (load) return process.send(await measureLoad(() => peer.call(params), load));
  const began = performance.now();
  const output = await peer.call(params);
  const ms = performance.now() - began;
  return process.send({ ms, output });
});
process.on('disconnect', async () => {
  await peer.close?.();
  process.exit();
});
process.send({});
