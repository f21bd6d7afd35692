import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cellIdentity, DEFAULT_CELL_ID } from '../../../src/cell/jail/identity.ts';
import { DEFAULT_LIMITS } from '../../../src/policy/compute-grant.ts';
import type { Grant, GrantedPath } from '../../../src/policy/grant.ts';
import { errorOf, tempDir } from '../../load/helpers.ts';

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
    test('runs as an id that nobody has', () => {
      expect(cellIdentity(grantOf(), DEFAULT_CELL_ID)).toEqual({
        uid: DEFAULT_CELL_ID,
        gid: DEFAULT_CELL_ID,
      });
    });

    test('runs as the owner of what it may write', () => {
      const grant = grantOf(readable(folder(0o755, 50_000)), writable(folder(0o700, OWNER)));
      expect(cellIdentity(grant, DEFAULT_CELL_ID)).toEqual({ uid: OWNER, gid: OWNER });
    });

    test('does not take on the owner of what it may only read', () => {
      expect(cellIdentity(grantOf(readable(folder(0o755, OWNER))), 700)).toEqual({ uid: 700, gid: 700 });
    });

    test('may write what everybody may write', () => {
      expect(cellIdentity(grantOf(writable(folder(0o777))), 700)).toEqual({ uid: 700, gid: 700 });
    });

    test('never gets group 0', () => {
      const path = folder(0o700);
      chownSync(path, OWNER, 0);
      expect(cellIdentity(grantOf(writable(path)), 700)).toEqual({ uid: OWNER, gid: OWNER });
    });

    test('is refused a folder that only root may write, with the way out', () => {
      const path = folder(0o755);
      const error = errorOf(() => cellIdentity(grantOf(writable(path)), 700));
      expect(error).toMatchObject({ code: 'usage', detail: { path } });
      expect(error.fix).toContain(`chown 700 "${path}"`);
    });
  });
} else {
  test('a cell of a plain user keeps that user', () => {
    expect(cellIdentity(grantOf(writable(folder(0o700))), DEFAULT_CELL_ID)).toBeUndefined();
  });
}
