/**
 * Two ways to decide a system call: by running the assembled BPF, and by reading the rules.
 *
 * @module
 */
import { actionValue } from '../../../../src/cell/linux/seccomp/assembler.ts';
import type { ArgumentTest, FilterProgram } from '../../../../src/cell/linux/seccomp/assembler.ts';
import { highestSyscall, syscallNumber } from '../../../../src/cell/linux/seccomp/syscalls.ts';

export const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;

export interface Call {
  arch: number;
  number: number;
  args: readonly bigint[];
}

/** `struct seccomp_data` as the kernel passes it to a filter. */
function seccompData(call: Call): Buffer {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number >>> 0, 0);
  data.writeUInt32LE(call.arch, 4);
  call.args.forEach((arg, index) => data.writeBigUInt64LE(arg, 16 + 8 * index));
  return data;
}

/** Interprets the program as the kernel would; throws if the kernel would refuse it. */
export function simulate(filter: Buffer, call: Call): number {
  const data = seccompData(call);
  let accumulator = 0;
  for (let pc = 0; pc * 8 < filter.length; pc++) {
    const at = pc * 8;
    const k = filter.readUInt32LE(at + 4);
    const [jt, jf] = [filter.readUInt8(at + 2), filter.readUInt8(at + 3)];
    const code = filter.readUInt16LE(at);
    if (code === 0x20) accumulator = data.readUInt32LE(k);
    else if (code === 0x06) return k;
    else if (code === 0x15) pc += accumulator === k ? jt : jf;
    else if (code === 0x35) pc += accumulator >= k ? jt : jf;
    else if (code === 0x45) pc += (accumulator & k) !== 0 ? jt : jf;
    else throw new Error(`Unknown instruction ${code} at ${pc}`);
  }
  throw new Error('The program ran past its end');
}

function holds(test: ArgumentTest, args: readonly bigint[]): boolean {
  const low = Number((args[test.argument] ?? 0n) & 0xffffffffn);
  const same = (value: number): boolean => low === value >>> 0;
  if (test.op === 'eq') return same(test.value);
  if (test.op === 'ne') return !same(test.value);
  if (test.op === 'not-in') return !test.values.some(same);
  if (test.op === 'any-bit') return (low & test.mask) !== 0;
  return (low & test.mask) === 0;
}

/** Evaluates the rules without BPF. */
export function evaluate(program: FilterProgram, call: Call): number {
  if (call.arch !== AUDIT_ARCH[program.arch]) return actionValue('kill');
  if (program.arch === 'x64' && call.number >= 0x40000000) return actionValue('kill');
  if (program.beyondTable && call.number > highestSyscall(program.arch))
    return actionValue(program.beyondTable);
  const rule = program.rules.find(
    ({ syscall, when, and }) =>
      syscallNumber(program.arch, syscall) === call.number &&
      (!when || holds(when, call.args)) &&
      (!and || holds(and, call.args)),
  );
  return actionValue(rule?.action ?? 'allow');
}
