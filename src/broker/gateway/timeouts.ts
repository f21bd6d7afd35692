/**
 * How long a guest wants to wait in each phase of a request. It can only lower what the broker allows anyway: the call
 * ends at its deadline, and a server that is silent for long is given up.
 *
 * @module
 */
import type { ClientRequest } from 'node:http';
import { BrokerRefusal } from '../../cell/contract.ts';

/** In milliseconds; a phase that is absent has no timer of its own. */
export interface HttpTimeouts {
  /** Until the connection stands, with TLS where there is TLS. */
  connect?: number;
  /** From then on until the head of the response is here. */
  firstByte?: number;
  /** While somebody waits for more of the body. */
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

/** Gives the request up when one of the phases before its response takes too long. */
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
