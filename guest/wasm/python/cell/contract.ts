/**
 * What the host tells a Python cell.
 *
 * @module
 */
import type { Preopen } from '../../wasi/broker-client.ts';

export interface PythonInit {
  limits: { pages: number; output: number; scratch: number };
  preopens: Preopen[];
  /** For the harness, unread here. */
  harness: Record<string, unknown>;
}

/** What came of a call. */
export interface Answer {
  body: Record<string, unknown>;
  payload?: Uint8Array;
}
