/**
 * Values into a request that is there as a whole, and out of the response to it.
 *
 * @module
 */
import { normalizeHost } from '../../policy/patterns.ts';
import type { CellSecrets, RequestHead } from './contract.ts';

interface WholeRequest {
  url: URL;
  headers: Record<string, string[]>;
}

/** Throws when the request carries a placeholder to where it must not go. */
export function fillRequest<T extends WholeRequest>(
  secrets: CellSecrets,
  request: T,
  body: Uint8Array,
): { request: T; body: Uint8Array } {
  const { url, headers } = request;
  const head: RequestHead = { host: normalizeHost(url.hostname), path: url.pathname + url.search, headers };
  const filled = secrets.fillHead(head);
  const filter = secrets.bodyFilter(head);
  return {
    request: { ...request, url: new URL(url.origin + filled.path), headers: filled.headers },
    body: Buffer.concat([filter.push(body), filter.end()]),
  };
}

export function coverHeaders(secrets: CellSecrets, headers: [string, string][]): [string, string][] {
  return headers.map(([name, value]) => [name, secrets.coverText(value)]);
}
