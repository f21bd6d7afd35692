/**
 * What the host tells a JavaScript cell.
 *
 * @module
 */
import type { Preopen } from '../../wasi/broker-client.ts';

export interface JsInit {
  /** Path of the skill's module inside the bundle. */
  entry: string;
  limits: { pages: number; output: number; fuel: number };
  /** Folders and files that the skill may read. */
  preopens: Preopen[];
  /** For the prelude, unread here. */
  prelude: PreludeInit;
}

export interface PreludeInit {
  env: Record<string, string>;
  /** Names that the manifest declares, whether they have a value or not. */
  declaredEnv: string[];
  /** The needs of the skill are recorded. */
  observe: boolean;
}

/** What came of a call. */
export interface Answer {
  body: Record<string, unknown>;
  payload?: Uint8Array;
}
