/**
 * Rootless podman without its own cgroup accepts limits and ignores them; Skillcell detects and refuses that. The user and
 * its id range exist only for this test, in a mount namespace.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { openFolder, removeFolder } from '../../../write-skill.ts';

const UID = 54_329;
const HOST = join(import.meta.dirname, 'rootless-host.ts');
const AS_USER = `
  mount --bind "$1/passwd" /etc/passwd && mount --bind "$1/ids" /etc/subuid && mount --bind "$1/ids" /etc/subgid || exit 1
  user="$2"; home="$1/home"; shift 2
  exec setpriv --reuid "$user" --regid "$user" --clear-groups env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin \\
    HOME="$home" XDG_RUNTIME_DIR="$home/run" "$@"
`;

test('rootless podman is unavailable if it ignores limits, and leaves no process behind', async () => {
  const folder = openFolder();
  onTestFinished(() => {
    killAllOf(UID);
    removeFolder(folder);
  });
  for (const name of ['home', 'home/run']) {
    mkdirSync(join(folder, name), { mode: 0o700 });
    chownSync(join(folder, name), UID, UID);
  }
  const passwd = readFileSync('/etc/passwd', 'utf8');
  writeFileSync(join(folder, 'passwd'), `${passwd}skillcell-test:x:${UID}:${UID}::/:/bin/sh\n`);
  writeFileSync(join(folder, 'ids'), 'skillcell-test:300000:65536\n');
  const program = [process.execPath, HOST, join(folder, 'home', 'skillcell')];
  const args = [
    '--mount',
    '--propagation',
    'private',
    '/bin/sh',
    '-c',
    AS_USER,
    'sh',
    folder,
    String(UID),
    ...program,
  ];
  const { stdout } = await promisify(execFile)('/usr/bin/unshare', args);
  const report = JSON.parse(stdout) as Record<string, unknown>;
  expect(report).toMatchObject({ summary: expect.stringContaining('rootless') });
  const isIgnored = String(report['summary']).includes('and ignores them');
  // An engine that can run no call must not count as available: the next mode of the manifest runs instead.
  expect(report).toMatchObject(
    isIgnored
      ? { available: false, memory: 'nobody' }
      : { available: true, memory: 'kernel', answer: 'accepted' },
  );
  expect(processesOf(UID)).toEqual([]);
});

/** Live processes of a user, without zombies. */
function processesOf(uid: number): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid)
    .filter((pid) => !/^State:\s+Z/m.test(statusOf(pid)));
}

function statusOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    // The process has exited.
    return 'State: Z';
  }
}

/** If the test failed, podman may have left a process that keeps its user namespace. */
function killAllOf(uid: number): void {
  for (const pid of processesOf(uid)) process.kill(Number(pid), 'SIGKILL');
}
