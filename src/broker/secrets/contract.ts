/**
 * Secrets as the gateway sees them: a cell holds placeholders, and values come into a request at the one place where it
 * leaves the host, after every check of the gateway has passed on the request with placeholders.
 *
 * @module
 */

/** What the gateway knows of a request before its body. Everything that is noted in records is noted from this one. */
export interface RequestHead {
  /** As it was checked: lower case, without port, an IPv6 address without brackets. */
  host: string;
  /** Path and query, as on the request line. */
  path: string;
  /** Names in lower case. */
  headers: Record<string, string[]>;
}

/** Bytes in, bytes out, in pieces of any size. It holds back no more than may be the start of what it looks for. */
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
   * compressed cannot be scrubbed. Throws `BrokerRefusal('denied')`, after noting the attempt, when a placeholder of a
   * secret is on its way to a host that the secret is not for.
   */
  fillHead(head: RequestHead): RequestHead;
  /**
   * True when a body to this host can change its length on the way: then `content-length` is not the guest's, but that
   * of the filled body, or the body goes out chunked.
   */
  mayChangeBody(host: string): boolean;
  /** For one request body to this host; throws like `fillHead`, from `push` or `end`. Compressed bodies pass unread. */
  bodyFilter(head: RequestHead): ByteFilter;
  /**
   * For one response body: values are covered with as many `*`, so that lengths stay true. Undefined when there is
   * nothing to cover.
   */
  responseFilter(): ByteFilter | undefined;
  /** Header values of a response, a status text, a redirect target: values covered with as many `*`. */
  coverText(text: string): string;
}
