/**
 * Assembles rules into a seccomp program: the bytes of a `struct sock_filter[]` for bubblewrap and prctl.
 *
 * Arguments are 64 bits wide, but every argument tested here is an `int` or `unsigned int` in the kernel (clone takes the
 * lower 32 bits of its flags). Tests therefore compare only the low word: otherwise `ioctl(fd, TIOCSTI | 1 << 32)` would
 * pass the filter and still be TIOCSTI to the kernel.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import { highestSyscall, syscallNumber } from './syscalls.ts';
import type { SeccompArch, SyscallName } from './syscalls.ts';

export type Action = 'allow' | 'kill' | { errno: number };

/** A condition on the low 32 bits of one argument (0 to 5). */
export type ArgumentTest =
  | { argument: number; op: 'eq'; value: number }
  | { argument: number; op: 'ne'; value: number }
  | { argument: number; op: 'any-bit'; mask: number }
  | { argument: number; op: 'all-bits-missing'; mask: number }
  | { argument: number; op: 'not-in'; values: readonly number[] };

/** The first rule whose test holds decides a call; a call without a matching rule is allowed. */
export interface FilterRule {
  syscall: SyscallName;
  when?: ArgumentTest;
  /** A second test on another argument that must hold too. */
  and?: ArgumentTest;
  action: Action;
}

export interface FilterProgram {
  arch: SeccompArch;
  rules: readonly FilterRule[];
  /** For calls that are newer than our table and were not reviewed yet. */
  beyondTable?: Action;
}

interface Instruction {
  code: number;
  k: number;
  /** How many instructions to skip when a jump's condition holds, and when it does not. */
  ifTrue: number;
  ifFalse: number;
}

const LOAD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const JUMP_EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const JUMP_AT_LEAST = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const JUMP_ANY_BIT = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN = 0x06; // BPF_RET | BPF_K

const KILL_PROCESS = 0x80000000;
const ERRNO = 0x00050000;
const ALLOW = 0x7fff0000;

const OFFSET_NUMBER = 0;
const OFFSET_ARCH = 4;
const OFFSET_ARGUMENTS = 16; // little endian: the low word of an argument comes first

const AUDIT_ARCH: Record<SeccompArch, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** Set in the numbers of the x32 ABI, which would bypass rules for x64 numbers. */
const X32_BIT = 0x40000000;

const MAX_INSTRUCTIONS = 4096;
const MAX_JUMP = 255;
const INSTRUCTION_BYTES = 8;

/** Assembles a filter. Throws `internal` if it exceeds the kernel's limits. */
export function assemble(program: FilterProgram): Buffer {
  const instructions = [
    ...prologue(program),
    ...groupByNumber(program).flatMap(([number, rules]) => block(number, rules)),
    finish('allow'),
  ];
  if (instructions.length > MAX_INSTRUCTIONS) {
    throw tooLarge(`it has ${instructions.length} instructions, the kernel allows ${MAX_INSTRUCTIONS}`);
  }
  return encode(instructions);
}

function prologue({ arch, beyondTable }: FilterProgram): Instruction[] {
  const checks = [load(OFFSET_ARCH), jump(JUMP_EQUAL, AUDIT_ARCH[arch], [1, 0]), finish('kill')];
  checks.push(load(OFFSET_NUMBER));
  if (arch === 'x64') checks.push(jump(JUMP_AT_LEAST, X32_BIT, [0, 1]), finish('kill'));
  if (beyondTable !== undefined) {
    checks.push(jump(JUMP_AT_LEAST, highestSyscall(arch) + 1, [0, 1]), finish(beyondTable));
  }
  return checks;
}

/** Rules per call number, in their order; calls that this architecture lacks need no rule. */
function groupByNumber({ arch, rules }: FilterProgram): [number, FilterRule[]][] {
  const groups = new Map<number, FilterRule[]>();
  for (const rule of rules) {
    const number = syscallNumber(arch, rule.syscall);
    if (number === undefined) continue;
    const group = groups.get(number);
    if (group) group.push(rule);
    else groups.set(number, [rule]);
  }
  return [...groups];
}

/** All rules of one call. It always returns, so the number never has to be loaded again. */
function block(number: number, rules: readonly FilterRule[]): Instruction[] {
  const body: Instruction[] = [];
  for (const { when, and, action } of rules) {
    const tests = [when, and].filter((test) => test !== undefined);
    body.push(...tests.reduceRight((rest, test) => conditional(test, rest), [finish(action)]));
  }
  if (rules.every((rule) => rule.when ?? rule.and)) body.push(finish('allow'));
  return [jump(JUMP_EQUAL, number, [0, body.length]), ...body];
}

/** Runs `then` only if the test holds. */
function conditional(test: ArgumentTest, then: Instruction[]): Instruction[] {
  return [load(OFFSET_ARGUMENTS + 8 * test.argument), ...skipUnless(test, then.length), ...then];
}

function skipUnless(test: ArgumentTest, count: number): Instruction[] {
  if (test.op === 'eq') return [jump(JUMP_EQUAL, test.value, [0, count])];
  if (test.op === 'ne') return [jump(JUMP_EQUAL, test.value, [count, 0])];
  if (test.op === 'any-bit') return [jump(JUMP_ANY_BIT, test.mask, [0, count])];
  if (test.op === 'all-bits-missing') return [jump(JUMP_ANY_BIT, test.mask, [count, 0])];
  const { values } = test;
  return values.map((value, index) => jump(JUMP_EQUAL, value, [values.length - 1 - index + count, 0]));
}

function load(offset: number): Instruction {
  return { code: LOAD, k: offset, ifTrue: 0, ifFalse: 0 };
}

function jump(code: number, k: number, [ifTrue, ifFalse]: [number, number]): Instruction {
  if (ifTrue > MAX_JUMP || ifFalse > MAX_JUMP) {
    throw tooLarge(`a jump skips ${Math.max(ifTrue, ifFalse)} instructions, the kernel allows ${MAX_JUMP}`);
  }
  return { code, k, ifTrue, ifFalse };
}

function finish(action: Action): Instruction {
  return { code: RETURN, k: actionValue(action), ifTrue: 0, ifFalse: 0 };
}

/** The return value of a filter for an action. */
export function actionValue(action: Action): number {
  if (action === 'allow') return ALLOW;
  if (action === 'kill') return KILL_PROCESS;
  return ERRNO + action.errno;
}

function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * INSTRUCTION_BYTES);
  instructions.forEach(({ code, k, ifTrue, ifFalse }, index) => {
    const at = index * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(ifTrue, at + 2);
    bytes.writeUInt8(ifFalse, at + 3);
    bytes.writeUInt32LE(k >>> 0, at + 4);
  });
  return bytes;
}

function tooLarge(cause: string): SkillError {
  return new SkillError('internal', `The seccomp filter is too large: ${cause}.`, {
    fix: 'Deny fewer system calls, or report this with the manifest.',
  });
}
