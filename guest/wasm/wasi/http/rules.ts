/**
 * What an HTTP request may contain. Anything that could end a line, smuggle a second request or address the
 * connection instead of the message is refused before a request is made.
 *
 * @module
 */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/;
/** Visible ASCII without `#`, which would start a fragment. */
const PATH = /^[/?][\x21\x22\x24-\x7e]{0,8191}$/;
/** A name or address with an optional port; no user info, no path, nothing encoded. */
const AUTHORITY = /^(?:\[[0-9a-fA-F:.]{2,64}\]|[A-Za-z0-9._~-]{1,255})(?::[0-9]{1,5})?$/;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]{0,31}$/;

/** Headers of the connection, which the broker controls. */
const FORBIDDEN: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

export function isPath(text: string): boolean {
  return PATH.test(text);
}

export function isAuthority(text: string): boolean {
  return AUTHORITY.test(text);
}

export function isScheme(text: string): boolean {
  return SCHEME.test(text);
}

export function isForbidden(name: string): boolean {
  return FORBIDDEN.has(name.toLowerCase());
}

/** Printable bytes, with spaces and tabs inside. */
export function isFieldValue(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0x09 || (byte >= 0x20 && byte !== 0x7f));
}
