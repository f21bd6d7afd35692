/**
 * Core values passed without memory, and how the cases of a variant share them.
 *
 * @module
 */

import { GuestEnd } from '../contract.ts';
import type { CoreType } from './types.ts';

export type CoreValue = number | bigint;

const scratch = new DataView(new ArrayBuffer(8));

/** Core values in order of use. Their types are checked, because the guest chose the type of an imported core function. */
export class FlatReader {
  readonly #values: readonly unknown[];
  #next = 0;

  constructor(values: readonly unknown[]) {
    this.#values = values;
  }

  i32(): number {
    const value = this.#take();
    if (typeof value !== 'number' || (value | 0) !== value) throw wrongType();
    return value;
  }

  i64(): bigint {
    const value = this.#take();
    if (typeof value !== 'bigint') throw wrongType();
    return value;
  }

  float(): number {
    const value = this.#take();
    if (typeof value !== 'number') throw wrongType();
    return value;
  }

  /** Converts the slots that the cases of a variant share into the core types of one case. */
  narrow(shared: readonly CoreType[], wanted: readonly CoreType[]): FlatReader {
    const narrowed: CoreValue[] = [];
    // Slot 0 is the discriminant, which has already been read.
    for (let slot = 1; slot < shared.length; slot += 1) {
      const have = shared[slot];
      const value = have === 'i64' ? this.i64() : have === 'i32' ? this.i32() : this.float();
      const want = wanted[slot - 1];
      if (want !== undefined) narrowed.push(have === want ? value : narrowValue(value, want));
    }
    return new FlatReader(narrowed);
  }

  #take(): unknown {
    const value = this.#values[this.#next];
    this.#next += 1;
    return value;
  }
}

export function wrongType(): GuestEnd {
  return new GuestEnd('trap', 'A core function does not have its declared type');
}

/** The payload of a case starts at `start` in `out`; widens it to the slots that all cases share. */
export function widen(out: CoreValue[], start: number, types: WidenTypes): void {
  for (let slot = 1; slot < types.shared.length; slot += 1) {
    const have = types.own[slot - 1];
    const want = types.shared[slot];
    const at = start + slot - 1;
    const value = out[at];
    if (have === undefined || value === undefined) out[at] = want === 'i64' ? 0n : 0;
    else if (have !== want) out[at] = widenValue(value, have, want === 'i64');
  }
}

export interface WidenTypes {
  shared: readonly CoreType[];
  own: readonly CoreType[];
}

/** The shared slot is an i32 or i64 that holds the bits of a narrower value or of a float. */
function narrowValue(value: CoreValue, want: CoreType): CoreValue {
  if (want === 'f64') {
    scratch.setBigInt64(0, BigInt(value));
    return scratch.getFloat64(0);
  }
  const bits = typeof value === 'bigint' ? Number(BigInt.asIntN(32, value)) : value;
  if (want === 'i32') return bits;
  scratch.setInt32(0, bits);
  return scratch.getFloat32(0);
}

function widenValue(value: CoreValue, have: CoreType, to64: boolean): CoreValue {
  if (have === 'f64') {
    scratch.setFloat64(0, Number(value));
    return scratch.getBigInt64(0);
  }
  if (have === 'f32') scratch.setFloat32(0, Number(value));
  else scratch.setInt32(0, Number(value));
  return to64 ? BigInt(scratch.getUint32(0)) : scratch.getInt32(0);
}
