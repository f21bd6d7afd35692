/**
 * Code around the instructions that grow a memory or a table, if several of them share one budget: the module asks
 * before it grows and reports the result, through a separate table that the linker fills. Types and tables are added
 * after those of the module, so that existing indices do not change.
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

/** Indices of the added type and the added table. */
export interface BudgetPlaces {
  type: number;
  table: number;
  shares: Shares;
}

/** `(func (param i32) (result i32))` */
export const BUDGET_TYPE: Uint8Array = Uint8Array.of(0x60, 1, 0x7f, 1, 0x7f);
/** `(table 4 4 funcref)` */
export const BUDGET_TABLE: readonly number[] = [0x70, 1, BUDGET_SLOTS.length, BUDGET_SLOTS.length];

/** Replaces the value on top of the stack by the answer to it. A refused amount becomes one that no growth can satisfy. */
export function writeQuestion(
  out: Writer,
  { type, table }: BudgetPlaces,
  question: (typeof BUDGET_SLOTS)[number],
): void {
  out.bytes([0x41, BUDGET_SLOTS.indexOf(question), 0x11]); // i32.const, call_indirect
  out.u32(type);
  out.u32(table);
}
