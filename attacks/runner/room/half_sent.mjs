/**
 * A server that never frees its limited slots, and a client that starts requests and never finishes them. Called with
 * the start of a request and the number of requests; reports whether the next client is served.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';

const [half = '', count = '0'] = process.argv.slice(2);
const PLACES = 1000;
const PATIENCE_MS = 20_000;

const server = createServer((request, response) => {
  request.resume().once('end', () => response.end('served'));
});
server.maxConnections = PLACES;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();

for (let n = 0; n < Number(count); n++) {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  if (!socket.destroyed) socket.write(half);
}
const served = await fetch(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(PATIENCE_MS) }).then(
  () => true,
  () => false,
);
process.stdout.write(JSON.stringify({ served }), () => process.exit(0));
