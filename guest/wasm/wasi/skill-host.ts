/**
 * `skillcell:skill/host`: log lines, and HTTP for languages whose toolchain cannot import `wasi:http`.
 *
 * @module
 */
import { GuestEnd, type HostInterfaces } from '../contract.ts';
import { BrokerError } from './broker-client.ts';
import { type Call, currentCall, type LogLevel, type Slot } from './call.ts';
import { asBytes, asList, asPair, asString, trap } from './check.ts';
import { fetchWhole, toRequest, type WholeResponse } from './http/whole.ts';

const LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error'];

export function skillHostInterfaces(slot: Slot): HostInterfaces {
  return {
    'skillcell:skill/host': {
      log: {
        call: (level, message) => {
          const known = LEVELS.find((name) => name === level);
          currentCall(slot).log(known ?? trap('An argument is not a log level'), asString(message));
        },
      },
      fetch: { suspends: true, call: (...args) => fetchFor(currentCall(slot), args) },
    },
  };
}

async function fetchFor(call: Call, args: unknown[]): Promise<{ ok: WholeResponse } | { err: string }> {
  const [method, url, headers, body] = args;
  const bytes = asBytes(body);
  if (bytes.length > call.limits.requestBody) throw new GuestEnd('limit', 'http_body');
  const pairs = asList(headers).map((item): [string, string] => {
    const [name, value] = asPair(item);
    return [asString(name), asString(value)];
  });
  const request = toRequest(call, { method: asString(method), url: asString(url), headers: pairs });
  if (typeof request === 'string') return { err: request };
  try {
    return { ok: await fetchWhole(call, request, bytes) };
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    return { err: reason(error) };
  }
}

function reason({ code, message }: BrokerError): string {
  if (code !== 'denied') return message;
  return message === code ? 'denied: The grant does not allow this request' : `denied: ${message}`;
}
