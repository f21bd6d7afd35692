import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assemble } from '../../../../src/cell/linux/seccomp/assembler.ts';
import type { Action, ArgumentTest, FilterRule } from '../../../../src/cell/linux/seccomp/assembler.ts';
import { seccompRules } from '../../../../src/cell/linux/seccomp/policy.ts';
import { syscallNumber } from '../../../../src/cell/linux/seccomp/syscalls.ts';
import type { SeccompArch, SyscallName } from '../../../../src/cell/linux/seccomp/syscalls.ts';
import { AUDIT_ARCH, evaluate, simulate } from './simulator.ts';
import type { Call } from './simulator.ts';

const NAMES: SyscallName[] = ['read', 'chmod', 'openat', 'clone', 'ioctl', 'socket', 'fork', 'personality'];
const word = fc.oneof(
  fc.constantFrom(0, 1, 2, 0x5412, 0x10000, 0o4755, 0x40, 0x7e020000, 0xffffffff),
  fc.integer({ min: 0, max: 0xffffffff }),
);
const argument = fc.integer({ min: 0, max: 5 });
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.constantFrom('allow' as const, 'kill' as const),
  fc.integer({ min: 1, max: 4095 }).map((errno) => ({ errno })),
);
const test: fc.Arbitrary<ArgumentTest> = fc.oneof(
  fc.record({ argument, op: fc.constant('eq' as const), value: word }),
  fc.record({ argument, op: fc.constant('ne' as const), value: word }),
  fc.record({ argument, op: fc.constant('any-bit' as const), mask: word }),
  fc.record({ argument, op: fc.constant('all-bits-missing' as const), mask: word }),
  fc.record({ argument, op: fc.constant('not-in' as const), values: fc.array(word, { maxLength: 5 }) }),
);
const rule: fc.Arbitrary<FilterRule> = fc.record(
  { syscall: fc.constantFrom(...NAMES), when: test, and: test, action },
  { requiredKeys: ['syscall', 'action'] },
);
const arch = fc.constantFrom<SeccompArch>('x64', 'arm64');
const wideArgument = fc.tuple(word, fc.oneof(fc.constant(0), word)).map(([low, high]) => {
  return (BigInt(high) << 32n) | BigInt(low);
});

function callOn(on: SeccompArch): fc.Arbitrary<Call> {
  const known = NAMES.map((name) => syscallNumber(on, name)).filter((number) => number !== undefined);
  return fc.record({
    arch: fc.oneof(
      { weight: 8, arbitrary: fc.constant<number>(AUDIT_ARCH[on]) },
      { weight: 1, arbitrary: fc.constantFrom<number>(AUDIT_ARCH.x64, AUDIT_ARCH.arm64, 0x40000003) },
    ),
    number: fc.oneof(
      fc.constantFrom(...known),
      fc.integer({ min: 0, max: 600 }),
      fc.constantFrom(0x40000000, 0xffffffff),
    ),
    args: fc.array(wideArgument, { minLength: 6, maxLength: 6 }),
  });
}

const scene = fc
  .record({ arch, rules: fc.array(rule, { maxLength: 12 }) })
  .chain((program) => fc.tuple(fc.constant(program), fc.boolean(), callOn(program.arch)));

describe('assemble', () => {
  it('decides random calls exactly as random rules do', () => {
    fc.assert(
      fc.property(scene, ([base, ceiling, call]) => {
        const program = ceiling ? { ...base, beyondTable: { errno: 38 } } : base;
        expect(simulate(assemble(program), call)).toBe(evaluate(program, call));
      }),
      { numRuns: 2000 },
    );
  });

  it('decides random calls exactly as the rules of the real policy do', () => {
    const call = arch.chain((on) => fc.tuple(fc.constant(on), callOn(on), fc.boolean()));
    fc.assert(
      fc.property(call, ([on, request, allowProcesses]) => {
        const program = { arch: on, rules: seccompRules({ syscalls: 'strict', allowProcesses }) };
        expect(simulate(assemble(program), request)).toBe(evaluate(program, request));
      }),
      { numRuns: 1000 },
    );
  });

  it('ignores the high word of an argument, as the kernel does', () => {
    const filter = assemble({
      arch: 'x64',
      rules: [{ syscall: 'ioctl', when: { argument: 1, op: 'eq', value: 0x5412 }, action: { errno: 1 } }],
    });
    const ioctl = (request: bigint): Call => ({
      arch: AUDIT_ARCH.x64,
      number: 16,
      args: [0n, request, 0n, 0n, 0n, 0n],
    });
    expect(simulate(filter, ioctl(0x1_0000_5412n))).toBe(0x00050001);
    expect(simulate(filter, ioctl(0x5413n))).toBe(0x7fff0000);
  });

  it('skips rules for calls that the architecture lacks', () => {
    const rules: FilterRule[] = [{ syscall: 'fork', action: 'kill' }];
    expect(assemble({ arch: 'arm64', rules })).toEqual(assemble({ arch: 'arm64', rules: [] }));
    expect(assemble({ arch: 'x64', rules })).not.toEqual(assemble({ arch: 'x64', rules: [] }));
  });

  it('refuses a jump over more than 255 instructions', () => {
    const values = Array.from({ length: 300 }, (_, index) => index);
    const rules: FilterRule[] = [
      { syscall: 'socket', when: { argument: 0, op: 'not-in', values }, action: 'kill' },
    ];
    expect(() => assemble({ arch: 'x64', rules })).toThrow(/jump skips 300 instructions/);
  });

  it('refuses more than 4096 instructions', () => {
    const values = Array.from({ length: 200 }, (_, index) => index);
    const calls =
      'read write open close stat fstat lstat poll lseek mmap mprotect munmap brk ioctl pread64 pwrite64 readv writev access pipe select';
    const all = calls.split(' ') as SyscallName[];
    const rules = all.map((syscall): FilterRule => {
      return { syscall, when: { argument: 0, op: 'not-in', values }, action: 'kill' };
    });
    expect(() => assemble({ arch: 'x64', rules })).toThrow(/instructions, the kernel allows 4096/);
  });
});
