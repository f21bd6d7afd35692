/**
 * Two connections joined, byte for byte, within the budget of the call.
 *
 * @module
 */
import type { Socket } from 'node:net';
import { pipeline, Transform, type Duplex } from 'node:stream';
import type { Budget } from '../limits.ts';

export interface Spliced {
  client: Duplex;
  server: Socket;
  budget: Budget;
  onEnd: () => void;
}

/** As many wait for the end of a connection in two pipelines, more than Node expects. */
const MAX_LISTENERS = 30;

export function splice({ client, server, budget, onEnd }: Spliced): void {
  let open = 2;
  client.setMaxListeners(MAX_LISTENERS);
  server.setMaxListeners(MAX_LISTENERS);
  const onClose = (): void => {
    // Nobody is left to read what the other may still say.
    client.destroy();
    server.destroy();
    if (--open === 0) onEnd();
  };
  client.once('close', onClose);
  server.once('close', onClose);
  pipeline(client, counted(budget), server, () => undefined);
  pipeline(server, counted(budget), client, () => undefined);
}

function counted(budget: Budget): Transform {
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
