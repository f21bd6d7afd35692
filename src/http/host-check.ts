/**
 * Prevents DNS rebinding: a malicious page whose name resolves to this machine sends that name as `Host`. A name must be one
 * of ours; an IP address cannot be rebound.
 *
 * @module
 */
import { isIP } from 'node:net';

export function isOurHost(header: string | undefined, names: readonly string[]): boolean {
  const match = /^(\[[0-9a-f:.]+\]|[^:[\]/@\s]+)(?::\d{1,5})?$/i.exec(header ?? '');
  const host = match?.[1]?.toLowerCase().replace(/\.$/, '');
  if (host === undefined) return false;
  if (host.startsWith('[')) return isIP(host.slice(1, -1)) === 6;
  return isIP(host) === 4 || host === 'localhost' || names.some((name) => name.toLowerCase() === host);
}
