/**
 * Secrets as the gateway sees them: a cell holds placeholders, and values are inserted at the only place where a request
 * leaves the host, after the request with placeholders has passed every check.
 *
 * @module
 */

import type { Target } from './audience.ts';

/** A request before its body. Records are made from this one, with placeholders. */
export interface RequestHead extends Target {
  /** Path and query, as on the request line. */
  path: string;
  /** Names in lower case. */
  headers: Record<string, string[]>;
}

/** Filters bytes in pieces of any size. The number of bytes held back depends only on the number pushed, not on content. */
export interface ByteFilter {
  push(chunk: Uint8Array): Uint8Array;
  /** Returns the bytes that were held back. */
  end(): Uint8Array;
}

/** The secrets of one cell. */
export interface CellSecrets {
  /** The values in the cell's environment, by name. */
  readonly placeholders: Readonly<Record<string, string>>;
  /** Sets the values of the call. Before that, a placeholder in a request is denied, as for a host it is not for. */
  arm(values: ReadonlyMap<string, string>): void;
  /**
   * Replaces placeholders by values in path, query and headers (plain, URL-encoded, within the base64 of
   * `Authorization: Basic`). Sets `accept-encoding: identity` for hosts that get a secret, because a compressed answer cannot
   * be scrubbed. Records the attempt and throws `BrokerRefusal('denied')` if a placeholder or value would go to a server that
   * the secret is not for.
   */
  fillHead(head: RequestHead): RequestHead;
  /** For one request body; `push` and `end` throw like `fillHead`. Replaces nothing in a body declared as compressed. */
  bodyFilter(head: RequestHead): ByteFilter;
  /**
   * For one response body of this server: masks its secrets with as many `*`, so that lengths stay correct. Responses of other
   * servers are not masked: they never got a value, and masking would confirm a guess. Undefined when there is nothing to mask.
   */
  responseFilter(from: Target): ByteFilter | undefined;
  /** The same for a header value, status text or redirect target of a response. */
  coverText(text: string, from: Target): string;
}
