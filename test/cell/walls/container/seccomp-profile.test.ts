/**
 * The seccomp profile of containers decides like the filter of jails, compared with an evaluator and a simulator.
 *
 * @module
 */
import { array, assert, bigInt, constantFrom, oneof, property, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import { seccompProfile, type SeccompProfile } from '../../../../src/cell/walls/container/seccomp-profile.ts';
import { actionValue, assemble } from '../../../../src/cell/linux/seccomp/assembler.ts';
import { seccompRules, type SeccompOptions } from '../../../../src/cell/linux/seccomp/policy.ts';
import {
  allSyscallNames,
  syscallNumber,
  type SyscallName,
} from '../../../../src/cell/linux/seccomp/syscalls.ts';
import { AUDIT_ARCH, simulate } from '../../linux/seccomp/simulator.ts';

const NAMES = allSyscallNames().filter((name) => syscallNumber('x64', name as SyscallName) !== undefined);

/** Evaluates a profile like libseccomp: any rule whose tests hold, otherwise the default. */
function allows(profile: SeccompProfile, name: string, args: readonly bigint[]): boolean {
  const fitting = profile.syscalls.filter(
    (rule) =>
      rule.names.includes(name) &&
      (rule.args ?? []).every(
        ({ index, value, valueTwo }) => ((args[index] ?? 0n) & BigInt(value)) === BigInt(valueTwo),
      ),
  );
  return fitting.length > 0 && fitting.every(({ action }) => action === 'SCMP_ACT_ALLOW');
}

const OPTIONS: SeccompOptions[] = [
  { syscalls: 'default', allowProcesses: false },
  { syscalls: 'default', allowProcesses: true },
  { syscalls: 'strict', allowProcesses: false },
  { syscalls: { deny: ['memfd_create', 'shmget'] }, allowProcesses: true },
  { syscalls: 'default', allowProcesses: false, families: [1] },
  { syscalls: 'default', allowProcesses: true, families: [1, 2, 10] },
];

const word = oneof(
  constantFrom(
    0n,
    1n,
    5n,
    1024n,
    1026n,
    1031n,
    1036n,
    1038n,
    2n,
    10n,
    16n,
    40n,
    0o4755n,
    0o2000n,
    0o644n,
    0x40n,
    0x410000n,
    0x5412n,
    0x541cn,
    0x10000n,
    0x10000000n,
    0x7e020000n,
    0xffffffffn,
  ),
  bigInt({ min: 0n, max: 0xffffffffn }),
);
/** With garbage above the 32 bits that the kernel reads. */
const argument = tuple(word, constantFrom(0n, 1n << 32n, 1n << 63n)).map(([low, high]) => low | high);

test.each(OPTIONS)(
  'the profile decides like the filter: $syscalls, processes: $allowProcesses',
  (options) => {
    const rules = seccompRules(options);
    const profile = seccompProfile(rules, 'x64');
    const filter = assemble({ arch: 'x64', rules });
    const name = oneof(
      constantFrom(
        'clone',
        'socket',
        'socketpair',
        'ioctl',
        'personality',
        'chmod',
        'open',
        'openat',
        'mknodat',
        'fcntl',
      ),
      constantFrom(...NAMES),
    );
    assert(
      property(name, array(argument, { minLength: 6, maxLength: 6 }), (call, args) => {
        const number = syscallNumber('x64', call as SyscallName) ?? -1;
        const verdict = simulate(filter, { arch: AUDIT_ARCH.x64, number, args });
        expect(allows(profile, call, args)).toBe(verdict === actionValue('allow'));
      }),
      { numRuns: 3000 },
    );
  },
);

test('an unknown system call fails with ENOSYS, as on an older kernel', () => {
  const profile = seccompProfile(seccompRules({ syscalls: 'default', allowProcesses: true }), 'x64');
  expect(profile).toMatchObject({ defaultAction: 'SCMP_ACT_ERRNO', defaultErrnoRet: 38 });
  expect(profile.architectures).toEqual(['SCMP_ARCH_X86_64']);
  expect(profile.syscalls.flatMap(({ names }) => names)).not.toContain('a_call_of_tomorrow');
});
