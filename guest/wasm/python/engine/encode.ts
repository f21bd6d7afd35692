/**
 * Numbers as operands of instructions.
 *
 * @module
 */
import { Writer } from '../../install/writer.ts';

export function unsigned(value: number): number[] {
  const out = new Writer(8);
  out.u32(value);
  return [...out.view];
}

export function signed(value: number): number[] {
  const out: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    const isLast = rest >= -0x40 && rest < 0x40;
    out.push((rest & 0x7f) | (isLast ? 0 : 0x80));
    if (isLast) return out;
  }
}
