/**
 * The findings of static inspection. Facts only; drift.ts decides what follows from them.
 *
 * @module
 */

/** One finding and its location, e.g. `skill.py:12`. */
export interface Finding {
  value: string;
  at: string;
}

export interface Inspection {
  /** Dotted names of imported modules, e.g. `urllib.request`. */
  modules: Finding[];
  /** Python imports that run when their file is loaded, as written; relative ones start with dots. */
  loads?: Finding[] | undefined;
  /** Interfaces that a Wasm binary imports, e.g. `wasi:http/outgoing-handler@0.2.3`. */
  interfaces: Finding[];
  /** Names read from the environment as literals. */
  env: Finding[];
  /** Hosts in URL literals. */
  hosts: Finding[];
  /** Files that could not be parsed. */
  unparsed: Finding[];
  /** Imports of scripts, as written in the source. */
  imports?: Finding[];
  /** Calls of `fetch` in scripts. */
  fetches?: Finding[];
  /** Skills that the source calls by name, as `category/name`. */
  calls?: Finding[] | undefined;
}

export const NOTHING_INSPECTED: Inspection = {
  modules: [],
  interfaces: [],
  env: [],
  hosts: [],
  unparsed: [],
};
