/**
 * A call as server-sent events.
 *
 * @module
 */
import type { SSEStreamingApi } from 'hono/streaming';
import { outcomeJson, printableJson, resultText, type Outcome } from '../index.ts';
import type { WatchedCall } from './live-calls.ts';

/** Keeps proxies from closing a quiet connection, and shows us one that is gone. */
const HEARTBEAT_MS = 15_000;

/** Writes everything that a call tells, to its end or until nobody reads any more. */
export async function tellEvents(stream: SSEStreamingApi, call: WatchedCall): Promise<void> {
  const heartbeat = setInterval(() => {
    stream.write(': still here\n\n').catch(() => 'the reader has gone, which the stream tells itself');
  }, HEARTBEAT_MS);
  try {
    for await (const event of call.follow()) {
      if (stream.aborted) return;
      const { type, ...data } = event;
      if (event.type === 'done' && resultText(event.outcome)) await stream.write(largeEvent(event.outcome));
      else await stream.writeSSE({ event: type, data: printableJson(data) });
    }
  } finally {
    clearInterval(heartbeat);
  }
}

/** JSON text has no line breaks, so it is one line of data as it is. */
function largeEvent(outcome: Outcome): Uint8Array {
  return Buffer.concat([
    Buffer.from('event: done\ndata: {"outcome":'),
    outcomeJson(outcome, printableJson),
    Buffer.from('}\n\n'),
  ]);
}
