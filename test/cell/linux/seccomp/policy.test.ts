import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NEEDED_TO_START } from '../../../../src/cell/linux/seccomp/names.ts';
import {
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
