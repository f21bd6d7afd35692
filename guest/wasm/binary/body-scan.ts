/**
 * What is found in a function body: where fuel has to be charged, and where sizes are asked for or changed.
 *
 * @module
 */
import type { IndexSpaces } from './core-types.ts';
import type { LengthUnit } from './opcodes.ts';

/** Fuel to be taken right before the byte `at`: `cost`, and what the length on top of the stack adds. */
export interface Charge {
  at: number;
  cost: number;
  length: LengthUnit | undefined;
  /** Whether the guest ends here without fuel: only loops and functions can go on for ever, so blocks need not look. */
  ends: boolean;
}

/** From where to where an instruction stands that makes something grow, or tells the size of the memory. */
export interface Sizing {
  from: number;
  to: number;
  does: 'grow-memory' | 'grow-table' | 'tell-memory';
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
  /** Whether it changes a table, or lets go of a segment: state that is neither memory nor global. */
  changesTables: boolean;
  /** Where the local declarations end and the code starts. */
  codeStart: number;
  /** Parameters included. */
  locals: number;
  /** Groups of local declarations, and where the first one starts. */
  localGroups: number;
  groupsStart: number;
}
