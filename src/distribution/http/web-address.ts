/**
 * The addresses that we request: https, or http on this machine. Credentials and fragments in them are refused.
 *
 * @module
 */
import { isIP } from 'node:net';
import { quote } from '../../manifest/quote.ts';
import { refused } from './problems.ts';
import { reachOfAddress, type Reach } from './reach.ts';

const MAX_LENGTH = 8192;

/** Parses an address that a person or a server named; `what` says what it is for. */
export function parseWebAddress(text: string, what: string, base?: URL): URL {
  const url = text.length > MAX_LENGTH || !URL.canParse(text, base) ? undefined : new URL(text, base);
  if (!url) throw refused(what, `its address ${quote(text)} is not a valid URL`);
  const shown = quote(url.origin === 'null' ? text : url.origin);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refused(what, `its address ${quote(text)} is not an https address`);
  if (url.username !== '' || url.password !== '')
    throw refused(what, `its address at ${shown} contains a user name or password`);
  if (url.protocol === 'http:' && !isLoopbackHost(url))
    throw refused(what, `${shown} is not encrypted, and http is allowed only on this machine (localhost)`);
  if (isLiteral(url) && literalReach(url) === undefined)
    throw refused(what, `${shown} is an address that nothing is fetched from`);
  url.hash = '';
  return url;
}

/** `localhost`, or an address of the loopback interface. */
export function isLoopbackHost(url: URL): boolean {
  return url.hostname === 'localhost' || literalReach(url) === 'loopback';
}

function isLiteral(url: URL): boolean {
  return isIP(bareHost(url)) !== 0;
}

/** Undefined for a name, and for an address that is never requested. */
export function literalReach(url: URL): Reach | undefined {
  return reachOfAddress(bareHost(url));
}

/** The host without the brackets of IPv6. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}
