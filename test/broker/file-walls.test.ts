import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { BrokerRefusal } from '../../src/cell/contract.ts';
import { dedent } from '../write-skill.ts';
import {
  Asked,
  BUNDLE,
  bytes,
  FIRST,
  grantForEachTest,
  grantOf,
  type OneGrant,
  SECOND,
  type Folders,
  WRITE,
} from './support.ts';

let grant: OneGrant;
let folders: Folders;
let asked: Asked;
const open: OneGrant['open'] = (path) => grant.open(path);

grantForEachTest((opened) => ({ grant, folders, asked } = opened));

describe('a guest', () => {
  it.each(['open', 'statAt', 'setTimesAt', 'mkdirAt', 'rmdirAt', 'unlinkAt', 'readlinkAt', 'symlinkAt'])(
    'cannot use %s with an invalid path',
    async (op) => {
      const odd = [
        ['..'],
        ['.'],
        [''],
        ['a/b'],
        ['a\0b'],
        ['\ud800'],
        [7],
        'sub',
        undefined,
        Array(129).fill('a'),
      ];
      for (const path of odd) {
        expect(await asked.code(op, { dir: FIRST, path, flags: {} }), JSON.stringify(path)).toBe('inval');
      }
      const long = await asked.code(op, { dir: FIRST, path: ['x'.repeat(256)], flags: {} });
      expect(long).toBe('nametoolong');
    },
  );

  it('reaches nothing outside, whatever the path segments are', async () => {
    const segment = fc.oneof(
      fc.constantFrom(
        '..',
        '.',
        '',
        '/',
        '../..',
        '/etc',
        'etc',
        'passwd',
        'sub',
        'deep',
        '~',
        '%2e%2e',
        'a\0',
      ),
      fc.string({ maxLength: 30 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(segment, { maxLength: 8 }), async (path) => {
        const isInside = path.length <= 2 && path.every((name, at) => name === ['sub', 'deep'][at]);
        using fresh = open();
        expect((await fresh.openCode(FIRST, path)) === 'done').toBe(isInside);
      }),
    );
  });

  it('sees names with odd bytes only if they can be represented', async () => {
    const names = ['ä😀', ' ', '-rf', 'a\nb', 'a\\b', '\u200b', '*', '\u001b[31m'];
    for (const name of names) {
      const file = await asked.open(FIRST, ['sub', name], WRITE);
      await asked.value('write', { file, offset: 0 }, bytes(name));
    }
    writeFileSync(
      Buffer.concat([Buffer.from(`${folders.work}/sub/`), Buffer.from([0xff, 0xfe])]),
      'unsayable',
    );
    const sub = await asked.open(FIRST, ['sub'], { directory: true });
    const { entries } = (await asked.value('readDir', { file: sub })) as { entries: { name: string }[] };
    expect(entries.map(({ name }) => name).toSorted()).toEqual([...names, 'deep'].toSorted());
    for (const name of names) expect(await asked.text(await asked.open(sub, [name]))).toBe(name);
    expect(await asked.openCode(sub, ['\ufffd\ufffd'])).toBe('noent');
  });

  it('cannot follow a link at any position', async () => {
    writeFileSync(join(folders.root, 'secret'), 'must not be seen');
    mkdirSync(join(folders.root, 'outside'));
    symlinkSync('../secret', join(folders.work, 'to-file'));
    symlinkSync('../outside', join(folders.work, 'to-folder'));
    symlinkSync('sub', join(folders.work, 'to-inside'));
    symlinkSync('nowhere', join(folders.work, 'dangling'));
    symlinkSync('/proc/self/root', join(folders.work, 'magic'));
    for (const name of ['to-file', 'to-folder', 'to-inside', 'dangling', 'magic']) {
      expect(await asked.openCode(FIRST, [name]), name).toBe('loop');
      expect(await asked.openCode(FIRST, [name], WRITE), name).toBe('loop');
      expect(await asked.openCode(FIRST, [name], { directory: true }), name).toBe('loop');
      expect(await asked.openCode(FIRST, [name, 'x'], WRITE), name).toMatch(/^(loop|notdir)$/);
      expect(await asked.code('mkdirAt', { dir: FIRST, path: [name, 'x'] }), name).toMatch(/^(loop|notdir)$/);
      expect(await asked.value('statAt', { dir: FIRST, path: [name] })).toMatchObject({
        type: 'symbolic-link',
      });
      expect(await asked.code('statAt', { dir: FIRST, path: [name], followLast: true })).toBe('loop');
      const times = { accessed: 'now', modified: 'now' };
      expect(await asked.code('setTimesAt', { dir: FIRST, path: [name], ...times })).toBe('loop');
    }
    expect(existsSync(join(folders.work, 'nowhere'))).toBe(false);
    expect(readdirSync(join(folders.root, 'outside'))).toEqual([]);
    expect(await asked.value('readlinkAt', { dir: FIRST, path: ['to-inside'] })).toEqual({ target: 'sub' });
    for (const name of ['to-file', 'magic'])
      expect(await asked.code('readlinkAt', { dir: FIRST, path: [name] })).toBe('perm');
    // The link itself may be removed; its target must stay.
    await asked.value('unlinkAt', { dir: FIRST, path: ['to-file'] });
    expect(readFileSync(join(folders.root, 'secret'), 'utf8')).toBe('must not be seen');
  });

  it('cannot create a link', async () => {
    expect(await asked.code('symlinkAt', { dir: FIRST, path: ['link'] })).toBe('perm');
    expect(existsSync(join(folders.work, 'link'))).toBe(false);
    expect(asked.broker.denied).toMatchObject([{ capability: 'filesystem', asked: 'link /workspace/link' }]);
  });

  it('gets no pipe, socket or device, not even by opening it', async () => {
    execFileSync('mkfifo', [join(folders.work, 'pipe')]);
    const server = createServer().listen(join(folders.work, 'socket'));
    for (const name of ['pipe', 'socket']) {
      expect(await asked.openCode(FIRST, [name])).toBe('perm');
      expect(await asked.openCode(FIRST, [name], { write: true })).toBe('perm');
    }
    server.close();
    using devices = new Asked(
      grantOf({ filesystem: [{ host: '/dev', guest: '/dev-of-host', access: 'read' }] }),
      folders.bundle,
    );
    expect(await devices.openCode(FIRST, ['null'])).toBe('perm');
  });

  it('changes nothing in the bundle or in a read-only folder', async () => {
    using readOnly = open({ access: 'read' });
    const both = [
      [BUNDLE, 'data.txt', '/skill'],
      [FIRST, 'sub', '/workspace'],
    ] as const;
    for (const [dir, existing, guestPath] of both) {
      const change = { dir, path: ['new'] };
      const times = { accessed: 'now', modified: 'now' };
      const two = { toDir: dir, toPath: ['other'] };
      for (const op of ['mkdirAt', 'rmdirAt', 'unlinkAt', 'symlinkAt'])
        expect(await readOnly.code(op, { ...change }), op).toBe('rofs');
      expect(await readOnly.code('renameAt', { dir, path: [existing], ...two })).toBe('rofs');
      expect(await readOnly.code('linkAt', { dir, path: [existing], ...two })).toBe('rofs');
      expect(await readOnly.code('setTimesAt', { dir, path: [existing], ...times })).toBe('rofs');
      for (const flags of [{ write: true }, { create: true }, { truncate: true }, WRITE])
        expect(await readOnly.openCode(dir, [existing], flags)).toBe('rofs');
      expect(readOnly.broker.denied).toContainEqual(
        expect.objectContaining({ asked: `write ${guestPath}/new`, declared: 'readable only' }),
      );
    }
    const file = await readOnly.open(BUNDLE, ['data.txt']);
    expect(await readOnly.code('write', { file, offset: 0 }, bytes('x'))).toBe('rofs');
    expect(await readOnly.code('append', { file }, bytes('x'))).toBe('rofs');
    expect(await readOnly.code('setSize', { file, size: 0 })).toBe('rofs');
    expect(await readOnly.code('setTimes', { file, accessed: 'now', modified: 'now' })).toBe('rofs');
    expect(readFileSync(join(folders.bundle, 'data.txt'), 'utf8')).toBe('from the bundle');
  });

  it('cannot remove a granted directory or write through a read-only handle', async () => {
    for (const op of ['rmdirAt', 'unlinkAt'])
      expect(await asked.code(op, { dir: FIRST, path: [] })).toBe('perm');
    const file = await asked.open(FIRST, ['sub', 'deep', 'file.txt']);
    expect(await asked.code('write', { file, offset: 0 }, bytes('x'))).toBe('badf');
    expect(await asked.code('setSize', { file, size: 0 })).toBe('badf');
  });
});

describe('a granted directory inside another', () => {
  function openNested(): Asked {
    return new Asked(
      grantOf({
        filesystem: [
          { host: folders.work, guest: '/workspace', access: 'read-write' },
          { host: join(folders.work, 'sub', 'deep'), guest: '/workspace/sub/deep', access: 'read' },
        ],
      }),
      folders.bundle,
    );
  }

  it('keeps its own rules on every path to it', async () => {
    using nested = openNested();
    const path = ['sub', 'deep', 'file.txt'];
    expect(await nested.openCode(FIRST, path, { write: true })).toBe('rofs');
    const sub = await nested.open(FIRST, ['sub'], { directory: true });
    expect(await nested.openCode(sub, ['deep', 'file.txt'], { write: true })).toBe('rofs');
    expect(await nested.code('unlinkAt', { dir: FIRST, path })).toBe('rofs');
    expect(await nested.text(await nested.open(sub, ['deep', 'file.txt']))).toBe('deep inside');
    expect(await nested.text(await nested.open(SECOND, ['file.txt']))).toBe('deep inside');
    await nested.open(FIRST, ['sub', 'new'], WRITE);
  });

  it('cannot be reached by moving it, its parents or anything between the two', async () => {
    using nested = openNested();
    const away = { toDir: FIRST, toPath: ['away'] };
    expect(await nested.code('renameAt', { dir: FIRST, path: ['sub'], ...away })).toBe('busy');
    expect(await nested.code('renameAt', { dir: FIRST, path: ['sub', 'deep'], ...away })).toBe('rofs');
    const other = folders.make('other');
    using two = new Asked(
      grantOf({
        filesystem: [
          { host: folders.work, guest: '/workspace', access: 'read-write' },
          { host: other, guest: '/other', access: 'read-write', maxBytes: 1 },
        ],
      }),
      folders.bundle,
    );
    const across = { dir: FIRST, path: ['sub', 'deep', 'file.txt'], toDir: SECOND, toPath: ['x'] };
    expect(await two.code('renameAt', across)).toBe('xdev');
    expect(await two.code('linkAt', across)).toBe('xdev');
  });
});

describe('a guest that races against the broker', () => {
  beforeEach(() => {
    const outside = folders.make('outside');
    writeFileSync(join(outside, 'file'), 'OUTSIDE');
    mkdirSync(join(folders.work, 'door'));
    writeFileSync(join(folders.work, 'door', 'file'), 'inside');
    symlinkSync(outside, join(folders.work, 'link'));
  });

  it('stays in the opened directory if that is swapped for a link', async () => {
    const door = await asked.open(FIRST, ['door'], { directory: true });
    renameSync(join(folders.work, 'door'), join(folders.work, 'away'));
    renameSync(join(folders.work, 'link'), join(folders.work, 'door'));
    expect(await asked.text(await asked.open(door, ['file']))).toBe('inside');
    await asked.open(door, ['made'], WRITE);
    expect(readdirSync(join(folders.root, 'outside'))).toEqual(['file']);
    expect(await asked.openCode(FIRST, ['door', 'file'])).toMatch(/^(loop|notdir)$/);
  });

  it('cannot use a granted directory that became a link after the grant', async () => {
    const granted = [{ host: join(folders.work, 'door'), guest: '/workspace', access: 'read' } as const];
    const inside = [
      { host: join(folders.work, 'door', 'file'), guest: '/workspace', access: 'read' } as const,
    ];
    using late = new Asked(grantOf({ filesystem: granted }), folders.bundle);
    using behind = new Asked(grantOf({ filesystem: inside }), folders.bundle);
    renameSync(join(folders.work, 'door'), join(folders.work, 'away'));
    renameSync(join(folders.work, 'link'), join(folders.work, 'door'));
    expect(await late.openCode(FIRST, ['file'])).toMatch(/^(loop|notdir)$/);
    expect(await behind.openCode(FIRST, [])).toMatch(/^(loop|notdir)$/);
  });

  it('never sees anything outside while another process swaps a directory for a link', async () => {
    const swap = `
      import os, time
      os.chdir(${JSON.stringify(folders.work)})
      print("swapping", flush=True)
      end = time.monotonic() + 1.5
      while time.monotonic() < end:
          os.rename("door", "away"); os.rename("link", "door")
          os.rename("door", "link"); os.rename("away", "door")
    `;
    const swapper = spawn('python3', ['-c', dedent(swap)], { stdio: ['ignore', 'pipe', 'inherit'] });
    const gone = once(swapper, 'exit');
    await once(swapper.stdout, 'data');
    const seen = new Map<string, number>();
    const note = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
    while (swapper.exitCode === null) {
      for (let round = 0; round < 50; round++) note(await openAndRead());
      await new Promise(setImmediate);
    }
    await gone;
    expect([...seen.keys()].filter((what) => what.includes('OUTSIDE'))).toEqual([]);
    // Both sides of the race must have occurred; otherwise there was no race.
    expect(seen.get('inside')).toBeGreaterThan(10);
    expect(seen.get('noent') ?? seen.get('notdir') ?? seen.get('loop')).toBeGreaterThan(10);
  });

  async function openAndRead(): Promise<string> {
    try {
      const file = await asked.open(FIRST, ['door', 'file']);
      const text = await asked.text(file);
      await asked.value('close', { file });
      return text;
    } catch (error) {
      return (error as BrokerRefusal).code;
    }
  }
});
