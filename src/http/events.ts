/**
 * A call as server-sent events.
 *
 * @module
 */
import type { SSEStreamingApi } from 'hono/streaming';
import { type Outcome, outcomeJson, printableJson, resultText } from '../inside.ts';
import type { WatchedCall } from './live-calls.ts';

/** Keeps proxies from closing an idle connection, and detects broken ones. */
const HEARTBEAT_MS = 15_000;

/** Writes all events of a call, until it ends or the client disconnects. */
export async function writeEvents(stream: SSEStreamingApi, call: WatchedCall): Promise<void> {
  const heartbeat = setInterval(() => {
    // The stream itself notices a client that disconnected.
    stream.write(': still here\n\n').catch(() => undefined);
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

/** Compact JSON has no line breaks, so it is always one line of data. */
function largeEvent(outcome: Outcome): Uint8Array {
  return Buffer.concat([
    Buffer.from('event: done\ndata: {"outcome":'),
    outcomeJson(outcome, printableJson),
    Buffer.from('}\n\n'),
  ]);
}
