/**
 * The result of scanning a function body: where fuel is charged, and where sizes are queried or changed.
 *
 * @module
 */
import type { IndexSpaces } from './core-types.ts';
import type { LengthUnit } from './opcodes.ts';

/** Fuel to charge right before byte `at`: `cost`, plus a part for the length on top of the stack. */
export interface Charge {
  at: number;
  cost: number;
  length: LengthUnit | undefined;
  /** Whether to trap here if fuel has run out. Only loops and functions can run forever, so other blocks need no check. */
  ends: boolean;
}

/** Byte range of an instruction that grows something or returns the size of the memory. */
export interface Sizing {
  from: number;
  to: number;
  does: 'grow-memory' | 'grow-table' | 'query-memory';
}

export interface BodyContext {
  spaces: IndexSpaces;
  dataSegments: number;
  elementSegments: number;
  params: number;
}

export interface BodyScan {
  charges: Charge[];
  sizings: Sizing[];
  /** Whether it changes a table or drops a segment: state that is neither memory nor global. */
  changesTables: boolean;
  /** End of the local declarations, where the code starts. */
  codeStart: number;
  /** Includes parameters. */
  locals: number;
  /** Number of local declaration groups, and the offset of the first one. */
  localGroups: number;
  groupsStart: number;
}
