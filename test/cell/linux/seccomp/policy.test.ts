import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NEEDED_TO_START } from '../../../../src/cell/linux/seccomp/names.ts';
import {
  forkFilters,
  lockdownFilter,
  seccompArch,
  seccompFilter,
  seccompRules,
} from '../../../../src/cell/linux/seccomp/policy.ts';
import { allSyscallNames } from '../../../../src/cell/linux/seccomp/syscalls.ts';
import { AUDIT_ARCH, simulate } from './simulator.ts';
import { thrownBy } from '../../../thrown.ts';

const denying = (...deny: string[]) => ({ syscalls: { deny }, allowProcesses: false });

describe('seccompRules', () => {
  it('adds the names of a deny list to the default rules', () => {
    const plain = seccompRules({ syscalls: 'default', allowProcesses: false });
    const more = seccompRules(denying('getcpu', 'uname', 'mount'));
    expect(more).toEqual(expect.arrayContaining(plain));
    expect(more.length).toBe(plain.length + 2);
  });

  it('suggests similar names for an unknown one', () => {
    const error = thrownBy(() => seccompRules(denying('sockett')));
    expect(error.code).toBe('manifest_invalid');
    expect(error.message).toContain('"sockett"');
    expect(error.fix).toContain('Did you mean "socket"');
    expect(error.detail['near']).toContain('socket');
  });

  it('suggests nothing for a name without similar ones', () => {
    for (const name of ['xyzzyplugh', '', 'a'.repeat(100_000), '__proto__']) {
      const error = thrownBy(() => seccompRules(denying(name)));
      expect(error.code).toBe('manifest_invalid');
      expect(error.detail['near']).toEqual([]);
    }
  });

  it('refuses to deny a call that every program needs to start', () => {
    for (const name of NEEDED_TO_START) {
      const error = thrownBy(() => seccompRules(denying('uname', name)));
      expect(error.code).toBe('manifest_invalid');
      expect(error.message).toContain(`"${name}"`);
      expect(error.message).toContain('cannot be denied');
    }
  });

  it('accepts exactly the known names that are not needed to start', () => {
    const known = new Set(allSyscallNames());
    const needed = new Set<string>(NEEDED_TO_START);
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...known), fc.string()), (name) => {
        const accepted = known.has(name) && !needed.has(name);
        const attempt = (): unknown => seccompRules(denying(name));
        if (accepted) expect(attempt).not.toThrow();
        else expect(thrownBy(attempt).code).toBe('manifest_invalid');
      }),
    );
  });
});

describe('seccompArch', () => {
  it('accepts architectures with a table, and refuses others', () => {
    expect(seccompArch('arm64')).toBe('arm64');
    expect(seccompArch('x64')).toBe('x64');
    const error = thrownBy(() => seccompArch('riscv64'));
    expect(error.code).toBe('skill_unavailable');
    expect(error.message).toContain('"riscv64"');
  });
});

/** What the kernel does with several filters: all are asked, the newest first, and the first strictest answer counts. */
function strictest(filters: readonly Buffer[], call: Parameters<typeof simulate>[1]): number {
  const signed = (answer: number): number => (answer & 0xffff0000) | 0;
  return filters
    .toReversed()
    .map((filter) => simulate(filter, call))
    .reduce((kept, answer) => (signed(answer) < signed(kept) ? answer : kept));
}

describe('the filters of a fork', () => {
  const arch = fc.constantFrom('x64' as const, 'arm64' as const);
  const options = fc.record({
    arch,
    syscalls: fc.oneof(
      fc.constantFrom('default' as const, 'strict' as const),
      fc.record({
        deny: fc.constantFrom<string[]>(
          ['accept4', 'wait4', 'kill'],
          ['socket', 'setsid'],
          ['mount', 'dup3'],
        ),
      }),
    ),
    allowProcesses: fc.boolean(),
    isGrouped: fc.boolean(),
    families: fc.constantFrom<number[]>([], [1, 2, 10]),
  });
  const word = fc.oneof(
    fc.constantFrom(0n, 1n, 2n, 4n, 16n, 0x100n, 0x10000n, 0x5412n, 0o4755n, 0xffffffffn, 1n << 32n),
    fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
  );
  const args = fc.array(word, { minLength: 6, maxLength: 6 });

  it('answer every call as the whole filter and the lockdown do, on both architectures', () => {
    fc.assert(
      fc.property(options, args, (chosen, values) => {
        const { zygote, fork } = forkFilters(chosen);
        const { arch: on, allowProcesses, families } = chosen;
        const lockdown = lockdownFilter({ arch: on, exec: allowProcesses, sockets: families.length > 0 });
        const whole = [seccompFilter(chosen), lockdown];
        const numbers = [...Array(500).keys(), 0x40000000, 0x40000001];
        for (const number of numbers) {
          const call = { arch: AUDIT_ARCH[on], number, args: values };
          expect([number, strictest([zygote, fork], call)]).toEqual([number, strictest(whole, call)]);
        }
        const foreign = { arch: 0x40000003, number: 1, args: values };
        expect(strictest([zygote, fork], foreign)).toBe(strictest(whole, foreign));
      }),
      { numRuns: 30 },
    );
  });

  it('leave the zygote the calls that it needs, even those that a manifest denies', () => {
    const needed = { clone: 56, mount: 165, wait4: 61, accept4: 288, kill: 62, setns: 308, unshare: 272 };
    const filters = forkFilters({
      arch: 'x64',
      syscalls: { deny: Object.keys(needed) },
      allowProcesses: false,
    });
    for (const number of Object.values(needed)) {
      // A new mount, ipc, pid and net namespace, and the signal at its end.
      const call = { arch: AUDIT_ARCH.x64, number, args: [0x68020011n] };
      expect(simulate(filters.zygote, call)).toBe(0x7fff0000);
      expect(simulate(filters.fork, call)).toBe(0x00050000 + 1);
    }
  });
});

describe('filters', () => {
  it('stay within the limits of the kernel on both architectures', () => {
    const deny = allSyscallNames().filter((name) => !new Set<string>(NEEDED_TO_START).has(name));
    for (const arch of ['x64', 'arm64'] as const) {
      const all = seccompFilter({ arch, syscalls: { deny }, allowProcesses: false });
      expect(all.length % 8).toBe(0);
      expect(all.length / 8).toBeLessThanOrEqual(4096);
    }
  });

  it('return ENOSYS for a call that is newer than the table', () => {
    const filter = seccompFilter({ arch: 'arm64', syscalls: 'default', allowProcesses: true });
    const call = { arch: AUDIT_ARCH.arm64, number: 470, args: [] };
    expect(simulate(filter, call)).toBe(0x00050000 + 38);
    expect(simulate(filter, { ...call, number: 468 })).toBe(0x7fff0000);
  });

  it('of the lockdown stop only execve, execveat and core limits, and sockets without a gateway', () => {
    const filter = lockdownFilter({ arch: 'x64', exec: false, sockets: true });
    const denied = Array.from({ length: 600 }, (_, number) => number).filter(
      (number) => simulate(filter, { arch: AUDIT_ARCH.x64, number, args: [] }) !== 0x7fff0000,
    );
    expect(denied).toEqual([59, 322]);
    const core = { arch: AUDIT_ARCH.x64, number: 302, args: [0n, 4n] };
    expect(simulate(filter, core)).toBe(0x00050000 + 1);
    expect(simulate(filter, { ...core, args: [0n, 7n] })).toBe(0x7fff0000);
    const withoutSockets = lockdownFilter({ arch: 'x64', exec: false, sockets: false });
    const socket = { arch: AUDIT_ARCH.x64, number: 41, args: [1n] };
    expect(simulate(withoutSockets, socket)).toBe(0x00050000 + 97);
  });
});
