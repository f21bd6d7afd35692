/**
 * Tells a client that asked for it that its call goes on, so that it does not give up while a cell works.
 *
 * @module
 */
import type { ServerContext } from '@modelcontextprotocol/server';

const EVERY_MS = 1000;

export interface ProgressOptions {
  /** How long the call may take, when the skill says so. */
  timeoutMs?: number | undefined;
}

/** Until disposed of. Does nothing for a client that did not ask. */
export function startProgress({ mcpReq }: ServerContext, { timeoutMs }: ProgressOptions): Disposable {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return { [Symbol.dispose]: () => undefined };
  const total = timeoutMs === undefined ? {} : { total: timeoutMs / 1000 };
  let seconds = 0;
  const tell = (): void => {
    const message = seconds === 0 ? 'started' : `running for ${seconds} s`;
    const params = { progressToken, progress: seconds, ...total, message };
    // A client that went away ends the call by its signal; there is nobody to tell.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
    seconds += EVERY_MS / 1000;
  };
  tell();
  const timer = setInterval(tell, EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
