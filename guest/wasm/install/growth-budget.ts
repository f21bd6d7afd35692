/**
 * What is put around the instructions that make a memory or a table grow, where several of them share one budget: the
 * module asks before it grows and says what came of it, through a table of its own that the linker fills. Types and
 * tables are added behind those of the module, so that nothing in it changes its number.
 *
 * @module
 */
import { BUDGET_SLOTS } from '../contract.ts';
import type { Writer } from './writer.ts';

/** What the module shares with others: the pages of memories, the entries of tables. */
export interface Shares {
  memory: boolean;
  table: boolean;
}

export const NOTHING_SHARED: Shares = { memory: false, table: false };

/** Where the added type and the added table are. */
export interface BudgetPlaces {
  type: number;
  table: number;
  shares: Shares;
}

/** `(func (param i32) (result i32))` */
export const BUDGET_TYPE: Uint8Array = Uint8Array.of(0x60, 1, 0x7f, 1, 0x7f);
/** `(table 4 4 funcref)` */
export const BUDGET_TABLE: readonly number[] = [0x70, 1, BUDGET_SLOTS.length, BUDGET_SLOTS.length];

/** Replaces what is on top of the stack by the answer to it. An amount that is refused becomes one that no growth gets. */
export function writeQuestion(
  out: Writer,
  { type, table }: BudgetPlaces,
  question: (typeof BUDGET_SLOTS)[number],
): void {
  out.bytes([0x41, BUDGET_SLOTS.indexOf(question), 0x11]); // i32.const, call_indirect
  out.u32(type);
  out.u32(table);
}
