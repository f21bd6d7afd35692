/**
 * A guest's timeouts for the phases of a request. They can only be shorter than those of the broker: the call ends at its
 * deadline, and a silent server is abandoned.
 *
 * @module
 */
import type { ClientRequest } from 'node:http';
import { BrokerRefusal } from '../../cell/contract.ts';

/** In milliseconds; an absent phase has no timer. */
export interface HttpTimeouts {
  /** Until the connection is established, including TLS. */
  connect?: number;
  /** From then until the head of the response arrives. */
  firstByte?: number;
  /** While a read waits for more of the body. */
  betweenBytes?: number;
}

const MAX_TIMER_MS = 0x7fffffff;

export function readTimeouts(args: Record<string, unknown>): HttpTimeouts {
  return {
    ...phase('connect', args['connectTimeout']),
    ...phase('firstByte', args['firstByteTimeout']),
    ...phase('betweenBytes', args['betweenBytesTimeout']),
  };
}

function phase(name: keyof HttpTimeouts, given: unknown): HttpTimeouts {
  if (given === undefined) return {};
  if (typeof given !== 'number' || !(given >= 0)) throw new BrokerRefusal('inval', 'bad timeout');
  return { [name]: Math.min(Math.max(1, given), MAX_TIMER_MS) };
}

/** Aborts the request if a phase before its response takes too long. */
export function watchPhases(outgoing: ClientRequest, timeouts: HttpTimeouts, isTls: boolean): void {
  const late = (code: string): void => {
    outgoing.destroy(new BrokerRefusal(code, 'no answer in time'));
  };
  let timer = startTimer(timeouts.connect, () => late('timedout'));
  const onConnected = (): void => {
    clearTimeout(timer);
    timer = startTimer(timeouts.firstByte, () => late('readtimeout'));
  };
  outgoing.once('socket', (socket) => {
    if (outgoing.reusedSocket) onConnected();
    else socket.once(isTls ? 'secureConnect' : 'connect', onConnected);
  });
  outgoing.once('response', () => clearTimeout(timer));
  outgoing.once('close', () => clearTimeout(timer));
}

export function startTimer(afterMs: number | undefined, action: () => void): NodeJS.Timeout | undefined {
  return afterMs === undefined ? undefined : setTimeout(action, afterMs);
}
