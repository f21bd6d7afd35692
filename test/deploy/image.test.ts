/**
 * The seccomp profile of the image: made from the lists of the jail, and enough for bubblewrap in a real container. The
 * whole image is tried by `scripts/try-image.ts`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JAIL_NEEDS, PROFILE_FILE, SERVICE_NEEDS, serviceProfile } from '../../scripts/service-seccomp.ts';
import { ROOT } from '../../scripts/steps.ts';
import { DENIED_ALWAYS } from '../../src/cell/linux/seccomp/deny-list.ts';
import { allSyscallNames } from '../../src/cell/linux/seccomp/syscalls.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { serveDefault, serveOptions } from './serve-options.ts';

const DOCKERFILE = readFileSync(join(ROOT, 'deploy/image/Dockerfile'), 'utf8');
const JAIL =
  '--unshare-user --unshare-all --disable-userns --ro-bind / / --proc /proc --dev /dev --hostname cell';
const CONFINED = [
  '--network=none',
  '--cap-drop=ALL',
  '--security-opt=no-new-privileges',
  '--user=10001:10001',
];
/** A machine without CAP_SYS_RESOURCE cannot raise the limits that engines set by default. */
const LIMITS = ['--ulimit=nofile=1024:4096', '--ulimit=nproc=4096:4096'];
const PROFILE = `--security-opt=seccomp=${PROFILE_FILE}`;
const UNMASK = '--security-opt=unmask=/proc/*';

describe('the seccomp profile', () => {
  test('is what the lists of the jail give; if not, run scripts/service-seccomp.ts', () => {
    expect(JSON.parse(readFileSync(PROFILE_FILE, 'utf8'))).toEqual(serviceProfile());
  });

  test('allows nothing that skills are denied, except for what bubblewrap and the service need', () => {
    const allowed = serviceProfile().syscalls.filter(({ action }) => action === 'SCMP_ACT_ALLOW');
    const names = new Set(allowed.flatMap((rule) => rule.names));
    const surplus = DENIED_ALWAYS.filter((name) => names.has(name));
    expect(surplus.toSorted()).toEqual([...JAIL_NEEDS, ...SERVICE_NEEDS].toSorted());
  });

  test('names only system calls that exist', () => {
    const known = new Set(allSyscallNames());
    const named = serviceProfile().syscalls.flatMap(({ names }) => names);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('bubblewrap in a container of podman', () => {
  const folder = openFolder();
  const rootfs = join(folder, 'rootfs');
  // crun refuses the hybrid of both versions of control groups.
  const runtime = existsSync('/sys/fs/cgroup/unified') ? ['--runtime=runc'] : [];

  beforeAll(() => {
    for (const name of ['usr', 'proc', 'sys', 'dev', 'tmp', 'etc', 'run'])
      mkdirSync(join(rootfs, name), { recursive: true });
    for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(rootfs, name));
  });
  afterAll(() => removeFolder(folder));

  function openJail(flags: readonly string[]): { status: number | null; stderr: string } {
    // Everything that podman writes goes into this folder.
    const storage = [`--root=${join(folder, 'root')}`, `--runroot=${join(folder, 'run')}`];
    const run = [
      'run',
      '--rm',
      ...CONFINED,
      ...LIMITS,
      ...flags,
      '--volume=/usr:/usr:ro',
      '--rootfs',
      rootfs,
    ];
    const command = ['/usr/bin/bwrap', ...JAIL.split(' '), '/usr/bin/true'];
    return spawnSync('podman', [...storage, ...runtime, ...run, ...command], { encoding: 'utf8' });
  }

  test('opens a jail without capabilities, with the profile and an unmasked /proc', () => {
    const ended = openJail([PROFILE, UNMASK]);
    expect(ended.status, ended.stderr).toBe(0);
  });

  test("opens none with the engine's own profile", () => {
    expect(openJail([UNMASK])).toMatchObject({ status: 1, stderr: expect.stringContaining('bwrap:') });
  });

  test('opens none if parts of /proc are masked', () => {
    expect(openJail([PROFILE])).toMatchObject({ status: 1, stderr: expect.stringContaining('/proc') });
  });
});

describe('the Dockerfile', () => {
  test('does not run as root, and reaps the processes of cells', () => {
    expect(DOCKERFILE).toMatch(/^USER 10001:10001$/m);
    expect(DOCKERFILE).toContain('ENTRYPOINT ["/usr/bin/tini", "--", "skillcell"]');
  });

  test('copies everything that the package consists of', () => {
    const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] };
    const copied = [...DOCKERFILE.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) =>
      names.split(' '),
    );
    // The build makes `dist`.
    const needed = files.filter((file) => file !== 'dist');
    expect(
      needed.filter((file) => !copied.some((name) => file === name || file.startsWith(`${name}/`))),
    ).toEqual([]);
    expect(copied.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  });

  test('uses the port and the options of the service', () => {
    const port = String(serveDefault('--port'));
    expect(DOCKERFILE).toMatch(new RegExp(`^EXPOSE ${port}$`, 'm'));
    expect(DOCKERFILE).toContain(`http://127.0.0.1:${port}/healthz`);
    const [, command = ''] = /^CMD \[(.*)\]$/m.exec(DOCKERFILE) ?? [];
    const flags = [...command.matchAll(/--[\w-]+/g)].map(([flag]) => flag);
    expect(flags).toEqual(flags.filter((flag) => serveOptions().includes(flag)));
  });
});

test('the image keeps the packages of a cluster, which a package without optional peers does not have', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dependencies?: Record<string, string>; peerDependencies?: object }>;
  };
  const peers = Object.keys(packages['']?.peerDependencies ?? {}).filter((name) =>
    name.startsWith('@nats-io/'),
  );
  const needed = new Set(peers);
  for (const name of needed)
    for (const next of Object.keys(packages[`node_modules/${name}`]?.dependencies ?? {})) needed.add(next);
  const kept = /cp -a (node_modules\/.+) \/tmp\/cluster/.exec(DOCKERFILE)?.[1]?.split(' ') ?? [];
  expect(peers.length).toBeGreaterThan(3);
  expect(kept).toEqual(
    [
      ...new Set(
        [...needed].map((name) => `node_modules/${name.startsWith('@') ? name.split('/')[0] : name}`),
      ),
    ].toSorted(),
  );
});
