/**
 * What static inspection of the source found. Facts only; what follows from them is decided in drift.ts.
 *
 * @module
 */

/** One finding with the place it was found at, e.g. `skill.py:12`. */
export interface Finding {
  value: string;
  at: string;
}

export interface Inspection {
  /** Dotted names of imported modules, e.g. `urllib.request`. */
  modules: Finding[];
  /** Interfaces that a Wasm binary imports, e.g. `wasi:http/outgoing-handler@0.2.3`. */
  interfaces: Finding[];
  /** Names read from the environment as literals. */
  env: Finding[];
  /** Hosts in URL literals. */
  hosts: Finding[];
  /** Files that could not be parsed. */
  unparsed: Finding[];
  /** What scripts import, as it is written there. */
  imports?: Finding[];
  /** Where scripts call `fetch`. */
  fetches?: Finding[];
}

export const NOTHING_INSPECTED: Inspection = {
  modules: [],
  interfaces: [],
  env: [],
  hosts: [],
  unparsed: [],
};
