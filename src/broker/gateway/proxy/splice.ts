/**
 * Joins two connections byte for byte, within the budget of the call.
 *
 * @module
 */
import type { Socket } from 'node:net';
import { pipeline, Transform, type Duplex } from 'node:stream';
import type { Budget } from '../limits.ts';

export interface SpliceOptions {
  client: Duplex;
  server: Socket;
  budget: Budget;
  onEnd: () => void;
}

/** Two pipelines add more listeners to a connection than Node's default limit. */
const MAX_LISTENERS = 30;

export function splice({ client, server, budget, onEnd }: SpliceOptions): void {
  let open = 2;
  client.setMaxListeners(MAX_LISTENERS);
  server.setMaxListeners(MAX_LISTENERS);
  const onClose = (): void => {
    // Without one end, the other has no reader.
    client.destroy();
    server.destroy();
    if (--open === 0) onEnd();
  };
  client.once('close', onClose);
  server.once('close', onClose);
  pipeline(client, meter(budget), server, () => undefined);
  pipeline(server, meter(budget), client, () => undefined);
}

function meter(budget: Budget): Transform {
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      try {
        budget.spend(chunk.length);
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
}
