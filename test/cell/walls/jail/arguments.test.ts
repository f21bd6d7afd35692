import { describe, expect, test } from 'vitest';
import { BASE_ENV } from '../../../../src/cell/native-env.ts';
import { jailArguments, limitedProgram, readLayout } from '../../../../src/cell/walls/jail/arguments.ts';
import type { LaunchSpec } from '../../../../src/cell/contract.ts';
import { DEFAULT_LIMITS } from '../../../../src/vocabulary/limits.ts';
import type { Grant } from '../../../../src/policy/grant.ts';

const SPEC: LaunchSpec = {
  argv: ['/usr/bin/python3', '/harness/main.py'],
  mounts: [
    { host: '/home/of/harness', guest: '/harness' },
    { host: '/home/of/skill', guest: '/skill' },
  ],
  env: { ENGINE: 'fixed' },
  cwd: '/skill',
};

const GRANT: Grant = {
  filesystem: [
    { host: '/host/work', guest: '/workspace', access: 'read-write' },
    { host: '/host/work/in', guest: '/workspace/in', access: 'read' },
  ],
  network: [],
  env: { DECLARED: 'a=b c' },
  syscalls: 'default',
  limits: DEFAULT_LIMITS,
  withheld: [],
};

function argumentsOf(changes: { spec?: Partial<LaunchSpec>; grant?: Partial<Grant> } = {}): string[] {
  return jailArguments({
    spec: { ...SPEC, ...changes.spec },
    grant: { ...GRANT, ...changes.grant },
    layout: readLayout(),
    infoFd: 5,
    seccompFd: 6,
  });
}

/** Position of an option followed by exactly these values. */
function positionOf(args: string[], ...wanted: string[]): number {
  const at = args.findIndex((_, start) => wanted.every((value, offset) => args[start + offset] === value));
  if (at < 0) throw new Error(`${wanted.join(' ')} is not in ${args.join(' ')}`);
  return at;
}

describe('the arguments of bubblewrap', () => {
  test('have the mounts in the order in which later ones must cover earlier ones', () => {
    const args = argumentsOf();
    const order = [
      positionOf(args, '--ro-bind', '/usr', '/usr'),
      positionOf(args, '--tmpfs', '/usr/local'),
      positionOf(args, '--proc', '/proc'),
      positionOf(args, '--dev', '/dev'),
      positionOf(args, '--tmpfs', '/dev/shm'),
      positionOf(args, '--tmpfs', '/tmp'),
      positionOf(args, '--ro-bind', '/home/of/harness', '/harness'),
      positionOf(args, '--ro-bind', '/home/of/skill', '/skill'),
      positionOf(args, '--bind', '/host/work', '/workspace'),
      positionOf(args, '--ro-bind', '/host/work/in', '/workspace/in'),
      positionOf(args, '--remount-ro', '/usr/local'),
      positionOf(args, '--remount-ro', '/dev'),
      positionOf(args, '--remount-ro', '/'),
      positionOf(args, '--chdir', '/skill'),
    ];
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });

  test('mount only /usr, the spec and the grant from the host', () => {
    const args = argumentsOf();
    const sources = args.flatMap((arg, at) => (/^--(ro-)?bind$/.test(arg) ? [args[at + 1] ?? ''] : []));
    const system = new Set(['/dev/null', '/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64']);
    expect(sources.filter((source) => !system.has(source))).toEqual([
      '/home/of/harness',
      '/home/of/skill',
      '/host/work',
      '/host/work/in',
    ]);
    positionOf(args, '--ro-bind', '/dev/null', '/proc/keys');
    expect(args.some((arg) => /^--(dev-bind|bind-try|ro-bind-try|share-net|overlay)/.test(arg))).toBe(false);
  });

  test('unshare all namespaces, drop all capabilities, and tie the cell to its host', () => {
    const args = argumentsOf();
    for (const flag of ['--unshare-user', '--unshare-all', '--disable-userns', '--as-pid-1'])
      expect(args).toContain(flag);
    for (const flag of ['--die-with-parent', '--new-session', '--clearenv']) expect(args).toContain(flag);
    positionOf(args, '--cap-drop', 'ALL');
    expect(args).not.toContain('--cap-add');
    const zygote = argumentsOf({ spec: { keepNamespaceRights: true } });
    expect(zygote).toContain('--cap-add');
    expect(zygote).not.toContain('CAP_NET_ADMIN');
    expect(argumentsOf({ spec: { keepNamespaceRights: true, gateway: true } })).toContain('CAP_NET_ADMIN');
  });

  test('clear the environment before setting the few variables', () => {
    const args = argumentsOf();
    const cleared = args.indexOf('--clearenv');
    const set = args.flatMap((arg, at) =>
      arg === '--setenv' ? [[at, args[at + 1], args[at + 2]] as const] : [],
    );
    expect(set.every(([at]) => at > cleared)).toBe(true);
    expect(Object.fromEntries(set.map(([, name, value]) => [name, value]))).toEqual({
      ...BASE_ENV,
      ENGINE: 'fixed',
      DECLARED: 'a=b c',
    });
  });

  test('limit the size of scratch and shared memory', () => {
    const args = argumentsOf({ grant: { limits: { ...DEFAULT_LIMITS, scratch: 12_345 } } });
    positionOf(args, '--size', '12345', '--perms', '1777', '--tmpfs', '/tmp');
    positionOf(args, '--size', String(8 * 1024 * 1024), '--tmpfs', '/dev/shm');
  });
});

describe('the rlimits of a program', () => {
  const limited = (grant: Partial<Grant>): string[] =>
    limitedProgram(SPEC, { ...GRANT, ...grant }, { isGrouped: true });

  test('have equal soft and hard values, so that none can be raised', () => {
    const limits = { ...DEFAULT_LIMITS, cpu: 2500, memory: 1000, processes: 7 };
    const args = limited({ limits, filesystem: [] });
    expect(args).toContain('--cpu=3:3');
    expect(args).toContain('--data=1000:1000');
    expect(args).toContain('--nproc=7:7');
    expect(args).toContain('--core=1:1');
    expect(args).toContain(`--fsize=${DEFAULT_LIMITS.scratch}`);
    expect(args.slice(-2)).toEqual(SPEC.argv);
  });

  test('include the address space only without a cgroup, for programs that reserve little of it', () => {
    const grant = { ...GRANT, limits: { ...DEFAULT_LIMITS, memory: 1000 } };
    const spec = { ...SPEC, codeBytes: 500 };
    expect(limitedProgram(spec, grant, { isGrouped: false })).toContain('--as=1500:1500');
    const others = [
      limitedProgram(spec, grant, { isGrouped: true }),
      limitedProgram(SPEC, grant, { isGrouped: false }),
    ];
    expect(others.flat().filter((arg) => arg.startsWith('--as='))).toEqual([]);
  });

  test('round a CPU limit below one second up to one second', () => {
    expect(limited({ limits: { ...DEFAULT_LIMITS, cpu: 1 } })).toContain('--cpu=1:1');
  });
});
