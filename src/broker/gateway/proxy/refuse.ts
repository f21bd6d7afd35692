/**
 * Reports a refused request to a native program: a status for its library, a text for its author, and headers for the
 * harness.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { BrokerRefusal } from '../../../cell/contract.ts';
import { nodeHttp } from '../../../node-network.ts';
import { Denial } from '../../denial.ts';
import { toRefusal } from '../failures.ts';

const STATUS: Readonly<Record<string, number>> = {
  denied: 403,
  inval: 400,
  toobig: 413,
  mfile: 429,
  timedout: 504,
  readtimeout: 504,
};
const BAD_GATEWAY = 502;

/** Never throws, because handlers call it after everything else has failed. */
export function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  try {
    answerRefusal(response, toRefusal(error));
  } catch {
    response.destroy();
  }
}

function answerRefusal(response: ServerResponse, refusal: BrokerRefusal): void {
  const body = `${describe(refusal)}\n`;
  const status = STATUS[refusal.code] ?? BAD_GATEWAY;
  // A failed attempt to forward an answer may have left headers and a reason.
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.writeHead(status, nodeHttp().STATUS_CODES[status] ?? '', {
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

/** The same for a bare connection. */
export function refuseSocket(request: IncomingMessage, socket: Socket, error: unknown): void {
  if (socket.destroyed) return;
  try {
    refuse(responseOn(request, socket), error);
  } catch {
    socket.destroy();
  }
}

/** Creates a response on a bare connection, which closes with it. */
export function responseOn(request: IncomingMessage, socket: Socket): ServerResponse {
  const response = new (nodeHttp().ServerResponse)(request);
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  response.on('finish', () => socket.end());
  return response;
}

function describe(refusal: BrokerRefusal): string {
  if (refusal instanceof Denial)
    return `Skillcell denied: ${refusal.event.asked} (${refusal.event.declared})`;
  return `Skillcell could not send the request: ${refusal.message}`;
}

function ascii(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?');
}
