/**
 * What the host tells a Python cell.
 *
 * @module
 */
import type { Preopen } from '../../wasi/broker-client.ts';

/** What the operator asks for beyond the usual reset. */
export interface Freshness {
  /** Every call gets a new instance of the engine, not only new memory. */
  newInstance: boolean;
  /** Every call runs the module body itself. */
  strict: boolean;
}

export interface PythonInit {
  fresh: Freshness;
  /** The image of the skill is handed over with `loaded` if it has no more bytes; 0: it is not asked for. */
  keepBytes: number;
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
