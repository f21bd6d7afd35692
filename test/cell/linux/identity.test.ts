import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cellIdentity, DEFAULT_CELL_ID, isMapped } from '../../../src/cell/linux/identity.ts';
import { DEFAULT_LIMITS } from '../../../src/vocabulary/limits.ts';
import type { Grant, GrantedPath } from '../../../src/policy/grant.ts';
import { createRuntime } from '../../../src/runtime.ts';
import { errorOf, tempDir } from '../../load/helpers.ts';
import { openFolder, removeFolder, writeSkill } from '../../write-skill.ts';
import { UNPRIVILEGED } from '../walls/jail/jailed-python.ts';

const OWNER = 61_234;

function grantOf(...filesystem: GrantedPath[]): Grant {
  return { filesystem, network: [], env: {}, syscalls: 'default', limits: DEFAULT_LIMITS, withheld: [] };
}

function folder(mode: number, owner = 0): string {
  const path = join(tempDir(), 'granted');
  mkdirSync(path);
  chmodSync(path, mode);
  if (owner !== 0) chownSync(path, owner, owner);
  return path;
}

const writable = (host: string): GrantedPath => ({ host, guest: '/workspace', access: 'read-write' });
const readable = (host: string): GrantedPath => ({ host, guest: '/data', access: 'read' });

if (process.getuid?.() === 0) {
  describe('a cell of a root host', () => {
    test('runs as an unassigned id', () => {
      expect(cellIdentity(grantOf(), DEFAULT_CELL_ID)).toEqual({
        uid: DEFAULT_CELL_ID,
        gid: DEFAULT_CELL_ID,
      });
    });

    test('runs as the owner of a writable path', () => {
      const grant = grantOf(readable(folder(0o755, 50_000)), writable(folder(0o700, OWNER)));
      expect(cellIdentity(grant, DEFAULT_CELL_ID)).toEqual({ uid: OWNER, gid: OWNER });
    });

    test('does not run as the owner of a read-only path', () => {
      expect(cellIdentity(grantOf(readable(folder(0o755, OWNER))), 700)).toEqual({ uid: 700, gid: 700 });
    });

    test('keeps its own id for a world-writable path', () => {
      expect(cellIdentity(grantOf(writable(folder(0o777))), 700)).toEqual({ uid: 700, gid: 700 });
    });

    test('never gets group 0', () => {
      const path = folder(0o700);
      chownSync(path, OWNER, 0);
      expect(cellIdentity(grantOf(writable(path)), 700)).toEqual({ uid: OWNER, gid: OWNER });
    });

    test("works with a workspace that belongs to another user, from root's home", async () => {
      const place = openFolder();
      try {
        const dir = writeSkill(place, {
          source:
            'import os\ndef execute(params):\n    open("/workspace/out", "w").write("x")\n    return os.getgroups()',
          manifest: {
            execution: ['subprocess'],
            capabilities: { filesystem: [{ path: '${workspace}', access: 'read-write' }] },
          },
        });
        const workspace = join(place, 'workspace');
        mkdirSync(workspace, { mode: 0o750 });
        chownSync(workspace, OWNER, OWNER + 1);
        await using runtime = createRuntime({ home: join(place, 'home-of-root'), cwd: place, audit: false });
        const outcome = await runtime.execute(dir, {}, { reject: false, workspace });
        expect(outcome).toMatchObject({ ok: true, result: [] });
        expect(statSync(join(workspace, 'out'))).toMatchObject({ uid: OWNER, gid: DEFAULT_CELL_ID });
      } finally {
        removeFolder(place);
      }
    });

    test('is refused a folder that only root may write, with a fix', () => {
      const path = folder(0o755);
      const error = errorOf(() => cellIdentity(grantOf(writable(path)), 700));
      expect(error).toMatchObject({ code: 'usage', detail: { path } });
      expect(error.fix).toContain(`chown 700 "${path}"`);
    });
  });
} else {
  test('a cell of a host without root keeps the user of the host', () => {
    expect(cellIdentity(grantOf(writable(folder(0o700))), DEFAULT_CELL_ID)).toBeUndefined();
  });
}

describe('a user namespace', () => {
  test('has the ids that its map lists', () => {
    const whole = '         0          0 4294967295\n';
    const single = '         0      65534          1\n';
    const several = '0 1000 1\n1 100000 65536\n';
    expect([0, 65_432].map((id) => isMapped(id, whole))).toEqual([true, true]);
    expect([0, 1, 65_432].map((id) => isMapped(id, single))).toEqual([true, false, false]);
    expect([0, 65_432, 65_537].map((id) => isMapped(id, several))).toEqual([true, true, false]);
    expect(isMapped(0, '')).toBe(false);
  });

  test('that maps only one id is refused with a fix, because a cell needs another user', () => {
    const identity = join(import.meta.dirname, '../../../src/cell/linux/identity.ts');
    const program = `import { refusalOf } from ${JSON.stringify(identity)};
      const { code, message, fix } = refusalOf(${DEFAULT_CELL_ID});
      console.log(JSON.stringify({ code, message, fix }));`;
    const result = spawnSync(
      '/usr/bin/unshare',
      ['--user', '--map-root-user', process.execPath, '--input-type=module', '-e', program],
      { ...UNPRIVILEGED, cwd: '/', encoding: 'utf8' },
    );
    expect(JSON.parse(result.stdout || result.stderr)).toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`no uid ${DEFAULT_CELL_ID}`),
      fix: expect.stringContaining('outside of this user namespace'),
    });
  });
});
