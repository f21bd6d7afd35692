/**
 * The smallest program that an image can have: it writes one text and exits. It needs no library, so that an image that
 * contains nothing else can be started.
 *
 * @module
 */

const BASE = 0x40_0000;
const HEADERS = 64 + 56;

interface Machine {
  /** `e_machine` of ELF. */
  id: number;
  /** Writes the `length` bytes after the code to standard output, and exits with 0. */
  code: (length: number) => number[];
}

const little = (value: number): number[] => [value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff, 0];
/** `movz` of a 64-bit register. */
const movz = (register: number, value: number): number[] => word(0xd280_0000 + value * 32 + register);
const SVC = word(0xd400_0001);

const MACHINES: Readonly<Record<string, Machine>> = {
  amd64: {
    id: 62,
    code: (length) => [
      ...[0xb8, ...little(1), 0xbf, ...little(1)],
      // lea rsi, [rip + 16]: after the following instructions.
      ...[0x48, 0x8d, 0x35, ...little(16)],
      ...[0xba, ...little(length), 0x0f, 0x05],
      ...[0xb8, ...little(60), 0x31, 0xff, 0x0f, 0x05],
    ],
  },
  arm64: {
    id: 183,
    code: (length) => [
      ...[...movz(8, 64), ...movz(0, 1)],
      // adr x1, #24: after the following instructions.
      ...word(0x1000_0000 + (24 / 4) * 32 + 1),
      ...[...movz(2, length), ...SVC, ...movz(8, 93), ...movz(0, 0), ...SVC],
    ],
  },
};

/** A program for this architecture, as named by OCI, that writes the text. */
export function programThatWrites(text: string, architecture: string): Buffer {
  const machine = MACHINES[architecture];
  if (!machine) throw new Error(`There is no such program for ${architecture}`);
  const said = Buffer.from(text);
  const code = Buffer.from(machine.code(said.length));
  const size = BigInt(HEADERS + code.length + said.length);
  const header = Buffer.alloc(HEADERS);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  for (const [at, value] of [
    [16, 2],
    [18, machine.id],
    [52, 64],
    [54, 56],
    [56, 1],
  ] as const)
    header.writeUInt16LE(value, at);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(BigInt(BASE + HEADERS), 24);
  header.writeBigUInt64LE(64n, 32);
  // One loaded segment, readable and executable.
  header.writeUInt32LE(1, 64);
  header.writeUInt32LE(5, 68);
  header.writeBigUInt64LE(BigInt(BASE), 64 + 16);
  header.writeBigUInt64LE(BigInt(BASE), 64 + 24);
  header.writeBigUInt64LE(size, 64 + 32);
  header.writeBigUInt64LE(size, 64 + 40);
  header.writeBigUInt64LE(0x1000n, 64 + 48);
  return Buffer.concat([header, code, said]);
}

function word(value: number): number[] {
  return [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, (value >>> 24) & 0xff];
}
