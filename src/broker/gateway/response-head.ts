/**
 * Checks the head of a response: Node's parser accepts more than Node's server can send and than a client should see. The
 * check is the same in every mode.
 *
 * @module
 */
import type { IncomingMessage } from 'node:http';
import { BrokerRefusal } from '../../cell/contract.ts';
import { FIELD_VALUE, TOKEN } from './request.ts';

const SWITCHING = 101;
const FIRST_FINAL_STATUS = 200;
const LAST_STATUS = 999;
const MAX_REASON = 512;
export const MAX_HEADERS: number = 256;

/** Throws if HTTP does not allow the status, the reason or a header. */
export function assertWellFormed(message: IncomingMessage, isUpgraded: boolean): void {
  const { statusCode = 0, statusMessage = '' } = message;
  const isStatus = isUpgraded
    ? statusCode === SWITCHING
    : statusCode >= FIRST_FINAL_STATUS && statusCode <= LAST_STATUS;
  if (!isStatus) throw malformed(`the status ${statusCode}`);
  if (statusMessage.length > MAX_REASON || !FIELD_VALUE.test(statusMessage)) throw malformed('a bad reason');
  const pairs = headerPairs(message);
  if (pairs.length > MAX_HEADERS) throw malformed('too many headers');
  for (const [name, value] of pairs)
    if (!TOKEN.test(name) || !FIELD_VALUE.test(value)) throw malformed('a bad header');
}

export function headerPairs({ rawHeaders }: IncomingMessage): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    pairs.push([rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '']);
  return pairs;
}

function malformed(what: string): BrokerRefusal {
  return new BrokerRefusal('proto', `the server answered with ${what}`);
}
