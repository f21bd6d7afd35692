/**
 * Small modules that access their memory once or more, in every way that WebAssembly has.
 *
 * @module
 */
import { MODULE_HEADER } from '../../../guest/wasm/binary/core-module.ts';
import { IMMEDIATE, PLAIN, SIMD } from '../../../guest/wasm/binary/opcodes.ts';
import { Writer } from '../../../guest/wasm/install/writer.ts';

export interface Access {
  /** With its prefix as the upper byte. */
  opcode: number;
  address: number;
  /** The immediate of the instruction. */
  offset: number;
  /** The rest is for bulk instructions only. */
  length: number;
  source: number;
}

const I32_CONST = 0x41;
const DROP = 0x1a;
/** `value` as a constant that has no byte of the tests' pattern. */
const CONSTANTS = {
  i32: [I32_CONST, 0x7f],
  i64: [0x42, 0x7f],
  f32: [0x43, 0xff, 0xff, 0xff, 0xff],
  f64: [0x44, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  v128: [0xfd, 12, ...Array.from({ length: 16 }, () => 0xff)],
};

/** A module with an export `run` that makes these accesses, one after the other. It imports its memory. */
export function memoryProgram(accesses: readonly Access[]): Uint8Array {
  const out = new Writer();
  out.bytes(MODULE_HEADER);
  section(out, 1, (to) => to.bytes([1, 0x60, 0, 0]));
  section(out, 2, (to) => {
    to.u32(1);
    to.name('env');
    to.name('memory');
    to.bytes([2, 0, 1]);
  });
  section(out, 3, (to) => to.bytes([1, 0]));
  section(out, 7, (to) => {
    to.u32(1);
    to.name('run');
    to.bytes([0, 0]);
  });
  section(out, 12, (to) => to.u32(1));
  section(out, 10, (to) => {
    const body = new Writer();
    body.u32(0);
    for (const access of accesses) write(body, access);
    body.byte(0x0b);
    to.u32(1);
    to.u32(body.length);
    to.bytes(body.view);
  });
  section(out, 11, (to) => to.bytes([1, 1, 0]));
  return out.view.slice();
}

function section(out: Writer, id: number, fill: (to: Writer) => void): void {
  const body = new Writer();
  fill(body);
  out.byte(id);
  out.u32(body.length);
  out.bytes(body.view);
}

function write(body: Writer, { opcode, address, offset, length, source }: Access): void {
  if (opcode === 0x3f) return body.bytes([opcode, 0, DROP]);
  if (opcode === 0x40) return body.bytes([I32_CONST, 0, opcode, 0, DROP]);
  constant(body, address);
  if (opcode >> 8 === 0xfc) {
    constant(body, opcode === 0xfc0b ? 0xff : source);
    constant(body, length);
    return body.bytes([0xfc, opcode & 0xff, ...(opcode === 0xfc0b ? [0] : [0, 0])]);
  }
  const value = valueOf(opcode);
  if (value) body.bytes(CONSTANTS[value]);
  if (opcode > 0xff) body.byte(opcode >> 8);
  body.u32(opcode & 0xff);
  // An alignment of one byte is allowed everywhere.
  body.byte(0);
  body.u32(offset);
  const { immediates } = opcode > 0xff ? SIMD : PLAIN;
  if (immediates[opcode & 0xff] === IMMEDIATE.memargLane) body.byte(0);
  if (!STORES_NOTHING(opcode)) return;
  body.byte(DROP);
}

function constant(body: Writer, value: number): void {
  body.byte(I32_CONST);
  for (let rest = value | 0; ; rest >>= 7) {
    const isLast = rest >= -0x40 && rest < 0x40;
    body.byte((rest & 0x7f) | (isLast ? 0 : 0x80));
    if (isLast) return;
  }
}

const STORES_NOTHING = (opcode: number): boolean =>
  opcode <= 0x35 ||
  (opcode >= 0xfd00 && opcode <= 0xfd0a) ||
  (opcode >= 0xfd54 && opcode <= 0xfd57) ||
  opcode >= 0xfd5c;

/** What the instruction takes beside the address. */
function valueOf(opcode: number): keyof typeof CONSTANTS | undefined {
  if (opcode === 0x36 || opcode === 0x3a || opcode === 0x3b) return 'i32';
  if (opcode === 0x37 || (opcode >= 0x3c && opcode <= 0x3e)) return 'i64';
  if (opcode === 0x38) return 'f32';
  if (opcode === 0x39) return 'f64';
  return opcode === 0xfd0b || (opcode >= 0xfd54 && opcode <= 0xfd5b) ? 'v128' : undefined;
}
