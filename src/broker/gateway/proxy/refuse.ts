/**
 * How a native program hears that its request was not made: a status for its library, words for its author, and
 * headers for our own harness.
 *
 * @module
 */
import { ServerResponse, STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { BrokerRefusal } from '../../../cell/contract.ts';
import { Denial } from '../../denial.ts';
import { asRefusal } from '../failures.ts';

const STATUS: Readonly<Record<string, number>> = {
  denied: 403,
  inval: 400,
  toobig: 413,
  mfile: 429,
  timedout: 504,
  readtimeout: 504,
};
const BAD_GATEWAY = 502;

/** Never throws: it is what handlers do when everything else has failed. */
export function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  try {
    answerRefusal(response, asRefusal(error));
  } catch {
    response.destroy();
  }
}

function answerRefusal(response: ServerResponse, refusal: BrokerRefusal): void {
  const body = `${describe(refusal)}\n`;
  const status = STATUS[refusal.code] ?? BAD_GATEWAY;
  // An attempt to pass an answer on may have left headers and a reason behind.
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.writeHead(status, STATUS_CODES[status] ?? '', {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'skillcell-code': refusal.code,
    ...(refusal instanceof Denial
      ? {
          'skillcell-capability': refusal.event.capability,
          'skillcell-asked': ascii(refusal.event.asked),
          'skillcell-declared': ascii(refusal.event.declared),
        }
      : {}),
    connection: 'close',
  });
  response.end(body);
}

/** The same where the server has handed over the bare connection. */
export function refuseSocket(request: IncomingMessage, socket: Socket, error: unknown): void {
  if (socket.destroyed) return;
  try {
    refuse(responseOn(request, socket), error);
  } catch {
    socket.destroy();
  }
}

/** A response on a bare connection, which ends with it. */
export function responseOn(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new ServerResponse(request);
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  response.on('finish', () => socket.end());
  return response;
}

function describe(refusal: BrokerRefusal): string {
  if (refusal instanceof Denial)
    return `Skillcell denied: ${refusal.event.asked} (${refusal.event.declared})`;
  return `Skillcell could not make the request: ${refusal.message}`;
}

function ascii(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?');
}
