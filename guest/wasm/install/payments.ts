/**
 * How code pays fuel: the instructions inserted where a charge is due.
 *
 * @module
 */
import type { BodyScan, Charge } from '../binary/body-scan.ts';
import { COST, type LengthUnit } from '../binary/opcodes.ts';
import type { Writer } from './writer.ts';

/** Must match the shift below. */
const BYTES_PER_UNIT = 16;

/** `i64.extend_i32_u`, a shift (0x88 right, 0x86 left) and `i64.sub`. */
const LENGTH_TO_UNITS: Readonly<Record<LengthUnit, readonly number[]>> = {
  bytes: [0xad, 0x42, 4, 0x88, 0x7d],
  pages: [0xad, 0x7d],
  entries: [0xad, 0x42, 4, 0x86, 0x7d],
};

interface Purse {
  out: Writer;
  scan: BodyScan;
  /** Index of the fuel global. */
  fuel: number;
}

/** A payment; for bytes only if there are more than the price of the instruction covers. */
export function writeCharge(job: Purse, charge: Charge): void {
  if (charge.length !== 'bytes') {
    writePayment(job, charge);
    return;
  }
  const { out, scan } = job;
  out.byte(0x22); // local.tee
  out.u32(scan.locals);
  out.byte(0x41); // i32.const
  out.signed(COST.bulk * BYTES_PER_UNIT);
  out.bytes([0x4b, 0x04, 0x40]); // i32.gt_u, if
  out.byte(0x20); // local.get
  out.u32(scan.locals);
  writePayment(job, charge);
  out.bytes([0x1a, 0x0b]); // drop, end
  out.byte(0x20); // local.get
  out.u32(scan.locals);
}

/** `fuel = fuel - cost [- length in units]`, then optionally `if (fuel < 0) unreachable`. The length stays on the stack. */
function writePayment({ out, scan, fuel }: Purse, charge: Charge): void {
  if (charge.length !== undefined) {
    out.byte(0x22); // local.tee
    out.u32(scan.locals);
  }
  out.byte(0x23); // global.get
  out.u32(fuel);
  out.byte(0x42); // i64.const
  out.signed(charge.cost);
  out.byte(0x7d); // i64.sub
  if (charge.length !== undefined) {
    out.byte(0x20); // local.get
    out.u32(scan.locals);
    out.bytes(LENGTH_TO_UNITS[charge.length]);
  }
  out.byte(0x24); // global.set
  out.u32(fuel);
  if (!charge.ends) return;
  out.byte(0x23);
  out.u32(fuel);
  // i64.const 0, i64.lt_s, if, unreachable, end
  out.bytes([0x42, 0, 0x53, 0x04, 0x40, 0x00, 0x0b]);
}
