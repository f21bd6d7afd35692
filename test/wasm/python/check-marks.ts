/**
 * Compares a module with its marked version, without using the code that marked it: before every store there is exactly the
 * sequence that marks it, and without these sequences both are the same, byte for byte.
 *
 * Nothing can jump into a sequence, because WebAssembly jumps only to ends of blocks and starts of loops. The sequences use
 * only locals that the function did not have.
 *
 * @module
 */
import { Reader } from '../../../guest/wasm/binary/reader.ts';
import { OPCODE, readBody, type Instruction } from '../../../guest/wasm/python/dlopen/instructions.ts';

const SECTION = { types: 1, imports: 2, functions: 3, code: 10 };
const MEMORY_COPY = 0xfc0a;

export interface Counts {
  stores: number;
  bulk: number;
}

export function checkMarks(before: Uint8Array, after: Uint8Array): Counts {
  const [old, now] = [sectionsOf(before), sectionsOf(after)];
  expectEqual([...now.keys()], [...old.keys()], 'sections');
  for (const [id, section] of old) {
    if (id === SECTION.imports || id === SECTION.code) continue;
    const [one, two] = [section, now.get(id) as Reader];
    if (Buffer.compare(rest(one), rest(two)) !== 0) throw new Error(`Section ${id} differs`);
  }
  checkImports(old.get(SECTION.imports) as Reader, now.get(SECTION.imports) as Reader);
  return checkCode(old, now);
}

function sectionsOf(bytes: Uint8Array): Map<number, Reader> {
  const reader = new Reader(bytes, 8);
  const found = new Map<number, Reader>();
  while (!reader.done) found.set(reader.byte(), reader.window(reader.u32()));
  return found;
}

function rest({ bytes, position, end }: Reader): Uint8Array {
  return bytes.subarray(position, end);
}

/** One import more, at the end: the memory of the marks, which is the second memory. */
function checkImports(old: Reader, now: Reader): void {
  expectEqual(now.u32(), old.u32() + 1, 'number of imports');
  const added = [3, ...Buffer.from('env'), 5, ...Buffer.from('cards'), 2, 1, 1, 17];
  expectEqual([...rest(now)], [...rest(old), ...added], 'imports');
}

function checkCode(old: ReadonlyMap<number, Reader>, now: ReadonlyMap<number, Reader>): Counts {
  const params = paramsOf(old);
  const [before, after] = [old.get(SECTION.code) as Reader, now.get(SECTION.code) as Reader];
  const functions = before.u32();
  expectEqual(after.u32(), functions, 'number of functions');
  const counts = { stores: 0, bulk: 0 };
  for (let at = 0; at < functions; at++)
    checkBody(before.window(before.u32()), after.window(after.u32()), { params: params[at] ?? 0, counts });
  return counts;
}

function paramsOf(sections: ReadonlyMap<number, Reader>): number[] {
  const types = sections.get(SECTION.types) as Reader;
  const counts = Array.from({ length: types.u32() }, () => {
    types.byte();
    const count = types.u32();
    types.skip(count);
    types.skip(types.u32());
    return count;
  });
  const functions = sections.get(SECTION.functions) as Reader;
  return Array.from({ length: functions.u32() }, () => counts[functions.u32()] ?? 0);
}

interface Body {
  params: number;
  counts: Counts;
}

function checkBody(old: Reader, now: Reader, { params, counts }: Body): void {
  const instructions: Instruction[] = [];
  readBody(new Reader(old.bytes, old.position, old.end), (one) => instructions.push({ ...one }));
  const locals = params + readLocals(old, old.u32());
  readLocals(now, now.u32());
  for (const [at, instruction] of instructions.entries()) {
    const end = instructions[at + 1]?.from ?? old.end;
    if (isStore(instruction.opcode)) {
      checkStore(now, instruction, locals);
      counts.stores++;
    } else if (instruction.opcode === MEMORY_COPY || instruction.opcode === OPCODE.memoryFill) {
      checkBulk(now, locals);
      counts.bulk++;
    }
    for (let byte = instruction.from; byte < end; byte++)
      if (now.byte() !== old.bytes[byte]) throw new Error(`The code differs at ${byte}`);
  }
  now.finish('function');
}

function readLocals(body: Reader, groups: number): number {
  let locals = 0;
  for (let left = groups; left > 0; left--) {
    locals += body.u32();
    body.byte();
  }
  return locals;
}

function isStore(opcode: number): boolean {
  return (opcode >= 0x36 && opcode <= 0x3e) || opcode === 0xfd0b || (opcode >= 0xfd58 && opcode <= 0xfd5b);
}

const GET = 0x20;
const SET = 0x21;
const TEE = 0x22;

/** `local.set v, local.tee a, [i32.const offset, i32.add], i32.const 12, i32.shr_u, i32.const 257, i32.store16 (memory 1), local.get a, local.get v` */
function checkStore(now: Reader, { second: offset }: Instruction, locals: number): void {
  const value = own(now, SET, locals);
  const address = own(now, TEE, locals);
  // No instruction writes more than 16 bytes.
  if (now.bytes[now.position + 1] === 12 && now.bytes[now.position + 2] === 0x76) {
    if (offset > 4096 - 1) throw new Error(`An offset of ${offset} is not added`);
  } else {
    expectEqual(now.byte(), 0x41, 'constant');
    expectEqual(now.signed(32), offset | 0, 'offset');
    expectEqual(now.byte(), 0x6a, 'addition');
  }
  take(now, [0x41, 12, 0x76, 0x41, 0x81, 0x02, 0x3b, 0x40, 1, 0]);
  expectEqual(own(now, GET, locals), address, 'address');
  expectEqual(own(now, GET, locals), value, 'value');
  if (address === value) throw new Error('An address and a value share a local');
}

function checkBulk(now: Reader, locals: number): void {
  const length = own(now, SET, locals);
  const value = own(now, SET, locals);
  const address = own(now, SET, locals);
  expectEqual(own(now, GET, locals), length, 'length');
  // Up to 4096 bytes are on at most two cards.
  take(now, [0x41, 0x80, 0x20, 0x4d, 0x04, 0x40]);
  expectEqual(own(now, GET, locals), address, 'address');
  take(now, [0x41, 12, 0x76, 0x41, 0x81, 0x02, 0x3b, 0x40, 1, 0, 0x05]);
  expectEqual(own(now, GET, locals), address, 'address');
  take(now, [0x41, 12, 0x76, 0x41, 1]);
  expectEqual(own(now, GET, locals), address, 'address');
  take(now, [0x41, 0xff, 0x1f, 0x71]);
  expectEqual(own(now, GET, locals), length, 'length');
  take(now, [0x6a, 0x41, 0xff, 0x1f, 0x6a, 0x41, 12, 0x76, 0xfc, 0x0b, 1, 0x0b]);
  expectEqual(
    [own(now, GET, locals), own(now, GET, locals), own(now, GET, locals)],
    [address, value, length],
    'operands',
  );
  if (new Set([address, value, length]).size !== 3) throw new Error('Two operands share a local');
}

/** An instruction on a local that the function did not have before. */
function own(now: Reader, opcode: number, locals: number): number {
  expectEqual(now.byte(), opcode, 'instruction');
  const local = now.u32();
  if (local < locals) throw new Error(`Local ${local} belongs to the function`);
  return local;
}

function take(now: Reader, bytes: readonly number[]): void {
  for (const byte of bytes) expectEqual(now.byte(), byte, 'sequence');
}

function expectEqual(found: unknown, expected: unknown, what: string): void {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
}
