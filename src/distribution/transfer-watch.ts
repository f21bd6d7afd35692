/**
 * What a long transfer reports to whoever waits for it, and how it is ended early.
 *
 * @module
 */

/** Progress of a transfer, for a terminal. */
export interface TransferWatch {
  readonly onProgress?: ((done: number, total: number | undefined, what: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}
