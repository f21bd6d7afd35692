/**
 * A call as server-sent events.
 *
 * @module
 */
import type { SSEStreamingApi } from 'hono/streaming';
import type { WatchedCall } from './live-calls.ts';

/** Keeps proxies from closing a quiet connection, and shows us one that is gone. */
const HEARTBEAT_MS = 15_000;

/** Writes everything that a call tells, to its end or until nobody reads any more. */
export async function tellEvents(stream: SSEStreamingApi, call: WatchedCall): Promise<void> {
  const heartbeat = setInterval(() => void stream.write(': still here\n\n'), HEARTBEAT_MS);
  try {
    for await (const { type, ...data } of call.follow()) {
      if (stream.aborted) return;
      await stream.writeSSE({ event: type, data: JSON.stringify(data) });
    }
  } finally {
    clearInterval(heartbeat);
  }
}
