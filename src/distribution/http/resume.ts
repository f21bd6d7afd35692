/**
 * Continues a broken download where it stopped. Only if the bytes cannot have changed in between: their digest is known, or
 * the server names them with a strong tag.
 *
 * @module
 */
import type { IncomingMessage } from 'node:http';
import { TransferFault } from './exchange.ts';

export class Resumption {
  readonly #hasDigest: boolean;
  readonly #mayResume: boolean;
  #chunks: Buffer[] = [];
  #tag: string | undefined;

  constructor({ digest, method = 'GET' }: { digest?: string | undefined; method?: string }) {
    this.#hasDigest = digest !== undefined;
    this.#mayResume = method === 'GET';
  }

  /** Bytes that arrived in earlier attempts. */
  get length(): number {
    return this.#chunks.reduce((sum, { length }) => sum + length, 0);
  }

  headers(): Record<string, string> {
    const isKnown = this.#hasDigest || this.#tag !== undefined;
    if (!this.#mayResume || this.length === 0 || !isKnown) return {};
    const range = { range: `bytes=${this.length}-` };
    return this.#tag === undefined ? range : { ...range, 'if-range': this.#tag };
  }

  /** Where the body of this answer goes: after the bytes that are there, or in their place. */
  begin({ statusCode, headers }: IncomingMessage): Buffer[] {
    if (statusCode === 206) {
      const start = /^bytes (\d{1,15})-\d{1,15}\/(?:\d{1,15}|\*)$/.exec(headers['content-range'] ?? '')?.[1];
      if (Number(start) !== this.length || this.length === 0)
        throw new TransferFault('the server sent another part than asked for');
    } else {
      this.#chunks = [];
    }
    const { etag } = headers;
    this.#tag = etag !== undefined && /^"[\x21\x23-\x7e]{1,256}"$/.test(etag) ? etag : undefined;
    return this.#chunks;
  }
}
