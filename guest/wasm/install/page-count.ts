/**
 * Replaces the instructions that query or change the size of a memory. A memory can have more pages than its module
 * sees: the module counts its pages itself, and the memory grows only when these are used up. Unlike a memory, a count
 * can be reset.
 *
 * @module
 */
import { GROWTH_OF } from '../contract.ts';
import type { Writer } from './writer.ts';

interface Places {
  /** Global that records a failed growth. */
  growth: number;
  /** A local that may be overwritten. */
  temporary: number;
}

/** After `memory.grow` or `table.grow`: `if (result == -1) growth = …`. The result stays on the stack. */
export function writeGrowthCheck(out: Writer, { growth, temporary, of }: Places & { of: number }): void {
  local(out, 0x22, temporary); // local.tee
  // i32.const -1, i32.eq, if, i32.const, global.set
  out.bytes([0x41, 0x7f, 0x46, 0x04, 0x40, 0x41, of, 0x24]);
  out.u32(growth);
  out.byte(0x0b); // end
  local(out, 0x20, temporary);
}

/**
 * Replaces `memory.grow`, with the number of pages on the stack:
 *
 *     if (wanted > memory.size - pages && memory.grow(wanted - (memory.size - pages)) == -1) { growth = …; -1 }
 * else { pages += wanted; the previous value of pages }
 */
export function writeCountedGrowth(
  out: Writer,
  { growth, temporary, pages }: Places & { pages: number },
): void {
  const room = (): void => {
    out.bytes([0x3f, 0, 0x23]); // memory.size, global.get
    out.u32(pages);
    out.byte(0x6b); // i32.sub
  };
  local(out, 0x21, temporary); // local.set
  out.bytes([0x02, 0x7f]); // block (result i32)
  local(out, 0x20, temporary);
  room();
  out.bytes([0x4b, 0x04, 0x40]); // i32.gt_u, if
  local(out, 0x20, temporary);
  room();
  // i32.sub, memory.grow, i32.const -1, i32.eq, if, i32.const, global.set
  out.bytes([0x6b, 0x40, 0, 0x41, 0x7f, 0x46, 0x04, 0x40, 0x41, GROWTH_OF.memory, 0x24]);
  out.u32(growth);
  out.bytes([0x41, 0x7f, 0x0c, 2, 0x0b, 0x0b]); // i32.const -1, br to the block's end, end, end
  out.byte(0x23); // global.get, the result
  out.u32(pages);
  out.byte(0x23);
  out.u32(pages);
  local(out, 0x20, temporary);
  out.bytes([0x6a, 0x24]); // i32.add, global.set
  out.u32(pages);
  out.byte(0x0b); // end
}

function local(out: Writer, opcode: number, index: number): void {
  out.byte(opcode);
  out.u32(index);
}
