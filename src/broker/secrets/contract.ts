/**
 * Secrets as the gateway sees them: a cell holds placeholders, and values come into a request at the one place where it
 * leaves the host, after every check of the gateway has passed on the request with placeholders.
 *
 * @module
 */

import type { Target } from './audience.ts';

/** What the gateway knows of a request before its body. Everything that is noted in records is noted from this one. */
export interface RequestHead extends Target {
  /** Path and query, as on the request line. */
  path: string;
  /** Names in lower case. */
  headers: Record<string, string[]>;
}

/** Bytes in, bytes out, in pieces of any size. How many it holds back depends on how many came, never on what they are. */
export interface ByteFilter {
  push(chunk: Uint8Array): Uint8Array;
  /** What was held back. */
  end(): Uint8Array;
}

/** The secrets of one cell. */
export interface CellSecrets {
  /** What the cell's environment holds instead of the values, by name. */
  readonly placeholders: Readonly<Record<string, string>>;
  /** Hands over the values of the call. Before that a placeholder in a request is a denial, like one for a foreign host. */
  arm(values: ReadonlyMap<string, string>): void;
  /**
   * The head with values instead of placeholders in path, query and headers (plain, URL-encoded, within the base64 of
   * `Authorization: Basic`), and `accept-encoding: identity` towards hosts that get a secret, because an answer that is
   * compressed cannot be scrubbed. Throws `BrokerRefusal('denied')`, after noting the attempt, when a placeholder or the
   * value of a secret is on its way to a server that the secret is not for.
   */
  fillHead(head: RequestHead): RequestHead;
  /** For one request body; throws like `fillHead`, from `push` or `end`. A body that is said to be compressed has nothing filled in. */
  bodyFilter(head: RequestHead): ByteFilter;
  /**
   * For one response body of this server: values of secrets that are for it are covered with as many `*`, so that
   * lengths stay true. No other server ever got a value, and covering one there would tell who guesses it.
   * Undefined when there is nothing to cover.
   */
  responseFilter(from: Target): ByteFilter | undefined;
  /** The same for header values of a response, a status text, a redirect target. */
  coverText(text: string, from: Target): string;
}
