import { execFileSync } from 'node:child_process';
import { linkSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Asked,
  BUNDLE,
  bytes,
  countDescriptors,
  FIRST,
  grantForEachTest,
  type OneGrant,
  type Folders,
  WRITE,
} from './support.ts';

let grant: OneGrant;
let folders: Folders;
let asked: Asked;
const open: OneGrant['open'] = (path) => grant.open(path);

grantForEachTest((opened) => ({ grant, folders, asked } = opened));

describe('a guest in a granted directory', () => {
  it('reads files in parts, and nothing past the end', async () => {
    const file = await asked.open(FIRST, ['sub', 'deep', 'file.txt']);
    expect(await asked.text(file)).toBe('deep inside');
    expect(await asked.text(file, 5, 3)).toBe('ins');
    expect(await asked.text(file, 100)).toBe('');
    expect(await asked.text(await asked.open(BUNDLE, ['data.txt']))).toBe('from the bundle');
  });

  it('opens files relative to a directory that it opened', async () => {
    const sub = await asked.open(FIRST, ['sub'], { directory: true });
    expect(await asked.text(await asked.open(sub, ['deep', 'file.txt']))).toBe('deep inside');
    const itself = await asked.open(sub, [], { directory: true });
    expect(await asked.text(await asked.open(itself, ['deep', 'file.txt']))).toBe('deep inside');
  });

  it('writes, appends, truncates and extends', async () => {
    const file = await asked.open(FIRST, ['new'], WRITE);
    expect(await asked.value('write', { file, offset: 0 }, bytes('hello'))).toEqual({ written: 5 });
    await asked.value('append', { file }, bytes(' world'));
    await asked.value('write', { file, offset: 0 }, bytes('J'));
    expect(readFileSync(join(folders.work, 'new'), 'utf8')).toBe('Jello world');
    await asked.value('setSize', { file, size: 4 });
    expect(readFileSync(join(folders.work, 'new'), 'utf8')).toBe('Jell');
    await asked.value('setSize', { file, size: 6 });
    expect(readFileSync(join(folders.work, 'new'), 'utf8')).toBe('Jell\0\0');
    await asked.value('sync', { file, dataOnly: false });
    await asked.value('sync', { file, dataOnly: true });
    await asked.value('sync', { file: FIRST, dataOnly: false });
  });

  it('appends after what another writer has added in the meantime', async () => {
    const file = await asked.open(FIRST, ['log'], WRITE);
    await asked.value('append', { file }, bytes('a'));
    writeFileSync(join(folders.work, 'log'), 'bb', { flag: 'a' });
    await asked.value('append', { file }, bytes('c'));
    expect(readFileSync(join(folders.work, 'log'), 'utf8')).toBe('abbc');
  });

  it('creates, moves, links, lists and removes', async () => {
    await asked.value('mkdirAt', { dir: FIRST, path: ['made'] });
    const file = await asked.open(FIRST, ['made', 'a'], WRITE);
    await asked.value('write', { file, offset: 0 }, bytes('x'));
    await asked.value('renameAt', { dir: FIRST, path: ['made', 'a'], toDir: FIRST, toPath: ['b'] });
    await asked.value('linkAt', { dir: FIRST, path: ['b'], toDir: FIRST, toPath: ['made', 'c'] });
    expect(await asked.value('statAt', { dir: FIRST, path: ['b'] })).toMatchObject({ links: 2, size: 1 });
    const made = await asked.open(FIRST, ['made'], { directory: true });
    const { entries } = await asked.value('readDir', { file: made });
    expect(entries).toEqual([{ name: 'c', type: 'regular-file', identity: expect.any(String) as unknown }]);
    await asked.value('unlinkAt', { dir: made, path: ['c'] });
    await asked.value('rmdirAt', { dir: FIRST, path: ['made'] });
    expect(readdirSync(folders.work).toSorted()).toEqual(['b', 'sub']);
  });

  it('truncates what it opens, and can insist on a new file', async () => {
    const path = ['sub', 'deep', 'file.txt'];
    expect(await asked.openCode(FIRST, path, { ...WRITE, exclusive: true })).toBe('exist');
    await asked.open(FIRST, path, { write: true, truncate: true });
    expect(statSync(join(folders.work, ...path)).size).toBe(0);
    await asked.open(FIRST, ['fresh'], { ...WRITE, exclusive: true });
  });

  it('sets times', async () => {
    const file = await asked.open(FIRST, ['sub', 'deep', 'file.txt']);
    await asked.value('setTimes', { file, accessed: 'keep', modified: '1500000000000000000' });
    expect(await asked.value('stat', { file })).toMatchObject({ modified: '1500000000000000000' });
    const times = { accessed: '1400000000000000000', modified: 'keep' };
    await asked.value('setTimesAt', { dir: FIRST, path: ['sub'], followLast: true, ...times });
    expect(await asked.value('statAt', { dir: FIRST, path: ['sub'] })).toMatchObject({
      accessed: '1400000000000000000',
    });
    await asked.value('setTimes', { file: FIRST, accessed: 'now', modified: 'now' });
    expect(await asked.code('setTimes', { file, accessed: '-1', modified: 'keep' })).toBe('inval');
  });

  it('distinguishes files without learning their inodes', async () => {
    linkSync(join(folders.work, 'sub', 'deep', 'file.txt'), join(folders.work, 'same'));
    writeFileSync(join(folders.work, 'other'), '');
    const identity = async (...path: string[]): Promise<unknown> =>
      (await asked.value('statAt', { dir: FIRST, path }))['identity'];
    expect(await identity('same')).toBe(await identity('sub', 'deep', 'file.txt'));
    expect(await identity('same')).not.toBe(await identity('other'));
    expect(String(await identity('same'))).not.toContain(String(statSync(join(folders.work, 'same')).ino));
  });
});

describe('file operations', () => {
  it.each([
    ['noent', 'open', { dir: FIRST, path: ['none'], flags: {} }],
    ['noent', 'open', { dir: FIRST, path: ['none', 'at', 'all'], flags: WRITE }],
    ['notdir', 'open', { dir: FIRST, path: ['sub', 'deep', 'file.txt', 'x'], flags: {} }],
    ['notdir', 'open', { dir: FIRST, path: ['sub', 'deep', 'file.txt'], flags: { directory: true } }],
    ['isdir', 'open', { dir: FIRST, path: ['sub'], flags: { write: true } }],
    ['inval', 'open', { dir: FIRST, path: ['new'], flags: { directory: true, create: true } }],
    ['exist', 'mkdirAt', { dir: FIRST, path: ['sub'] }],
    ['notempty', 'rmdirAt', { dir: FIRST, path: ['sub'] }],
    ['isdir', 'unlinkAt', { dir: FIRST, path: ['sub'] }],
    ['inval', 'readlinkAt', { dir: FIRST, path: ['sub'] }],
    ['inval', 'read', { file: FIRST, offset: -1, length: 1 }],
    ['inval', 'read', { file: FIRST, offset: 0, length: 1.5 }],
    ['badf', 'read', { file: 99, offset: 0, length: 1 }],
    ['badf', 'stat', { file: '1' }],
    ['badf', 'stat', { file: -1 }],
    ['badf', 'close', { file: FIRST }],
    ['badf', 'close', { file: 1000 }],
    ['nosys', 'constructor', {}],
    ['nosys', '__proto__', {}],
  ])('fail with %s: %s %j', async (code, op, args) => {
    expect(await asked.code(op, args)).toBe(code);
  });

  it('read no bytes from a directory', async () => {
    const sub = await asked.open(FIRST, ['sub'], { directory: true });
    expect(await asked.code('read', { file: sub, offset: 0, length: 10 })).toBe('isdir');
  });
});

describe('file times', () => {
  it('are preserved to the nanosecond', async () => {
    const path = join(folders.work, 'sub', 'deep', 'file.txt');
    execFileSync('touch', ['-d', '@1700000000.123456789', path]);
    const file = await asked.open(FIRST, ['sub', 'deep', 'file.txt'], { write: true });
    await asked.value('setTimes', { file, accessed: '5000000000', modified: 'keep' });
    const { atimeNs, mtimeNs } = statSync(path, { bigint: true });
    expect([atimeNs, mtimeNs]).toEqual([5_000_000_000n, 1_700_000_000_123_456_789n]);
  });

  it('read back the same in microseconds and milliseconds, and never earlier', async () => {
    const file = await asked.open(FIRST, ['sub', 'deep', 'file.txt'], { write: true });
    const times = fc
      .bigInt({ min: 0n, max: 4_000_000_000_000_000n })
      .map((microseconds) => microseconds * 1000n);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          times,
          times.map((time) => time - (time % 1_000_000n)),
        ),
        async (time) => {
          await asked.value('setTimes', { file, accessed: 'keep', modified: String(time) });
          const { modified } = await asked.value('stat', { file });
          expect(BigInt(String(modified)) - time).toBeGreaterThanOrEqual(0n);
          expect(BigInt(String(modified)) - time).toBeLessThan(1000n);
        },
      ),
      { examples: [[862_069_612_829_000_000n], [120_168_659_128_757_000n]] },
    );
  });
});

describe('the file quota', () => {
  it('also limits one file to the size that a jail allows, even if unset', async () => {
    const largest = 1024 ** 3;
    const file = await asked.open(FIRST, ['sparse'], WRITE);
    await asked.value('setSize', { file, size: largest });
    expect(await asked.code('setSize', { file, size: largest + 1 })).toBe('fbig');
    expect(await asked.code('write', { file, offset: largest }, bytes('x'))).toBe('fbig');
    expect(await asked.code('write', { file, offset: largest - 1 }, bytes('xy'))).toBe('fbig');
    expect(await asked.code('append', { file }, bytes('x'))).toBe('fbig');
    await asked.value('write', { file, offset: largest - 1 }, bytes('x'));
    expect(statSync(join(folders.work, 'sparse')).size).toBe(largest);
    await asked.value('setSize', { file, size: 1 });
    await asked.value('append', { file }, bytes('x'));
  });

  it('counts growth by writing, appending and extending together', async () => {
    using small = open({ maxBytes: 100 });
    const file = await small.open(FIRST, ['a'], WRITE);
    await small.value('write', { file, offset: 0 }, new Uint8Array(40));
    await small.value('write', { file, offset: 0 }, new Uint8Array(40));
    await small.value('append', { file }, new Uint8Array(30));
    await small.value('setSize', { file, size: 90 });
    expect(await small.code('write', { file, offset: 90 }, new Uint8Array(11))).toBe('nospc');
    expect(await small.code('append', { file }, new Uint8Array(11))).toBe('nospc');
    expect(await small.code('setSize', { file, size: 101 })).toBe('nospc');
    expect(statSync(join(folders.work, 'a')).size).toBe(90);
    await small.value('append', { file }, new Uint8Array(10));
    const other = await small.open(FIRST, ['b'], WRITE);
    expect(await small.code('append', { file: other }, new Uint8Array(1))).toBe('nospc');
    // Overwritten bytes do not count.
    await small.value('write', { file, offset: 0 }, new Uint8Array(100));
  });

  it('counts the hole before data that is written past the end', async () => {
    using small = open({ maxBytes: 100 });
    const file = await small.open(FIRST, ['a'], WRITE);
    expect(await small.code('write', { file, offset: 100 }, new Uint8Array(1))).toBe('nospc');
    expect(await small.code('write', { file, offset: Number.MAX_SAFE_INTEGER }, new Uint8Array(9))).toBe(
      'nospc',
    );
  });

  it('is never exceeded, whatever the guest does', async () => {
    const step = fc.record({
      op: fc.constantFrom('write', 'append', 'setSize'),
      at: fc.nat(80),
      length: fc.nat(40),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        using small = open({ maxBytes: 50 });
        const file = await small.open(FIRST, ['q'], { ...WRITE, truncate: true });
        for (const { op, at, length } of steps)
          await small.code(op, { file, offset: at, size: at }, new Uint8Array(length));
        expect(statSync(join(folders.work, 'q')).size).toBeLessThanOrEqual(50);
      }),
      { numRuns: 60 },
    );
  });
});

describe('the file broker', () => {
  it('limits open files, and closes every descriptor in all cases', async () => {
    const before = countDescriptors();
    const held = open();
    let opened = 0;
    while ((await held.openCode(FIRST, ['sub', 'deep', 'file.txt'])) === 'done') opened++;
    expect(opened).toBeGreaterThan(200);
    expect(opened).toBeLessThanOrEqual(256);
    expect(await held.openCode(FIRST, ['sub'])).toBe('mfile');
    held.broker.close();
    expect(await held.openCode(FIRST, ['sub'])).toBe('badf');
    expect(countDescriptors()).toBe(before);
  });

  it('leaks no descriptor on failures', async () => {
    symlinkSync('deep', join(folders.work, 'sub', 'link'));
    execFileSync('mkfifo', [join(folders.work, 'sub', 'pipe')]);
    await asked.openCode(FIRST, ['sub']);
    const before = countDescriptors();
    const paths = [
      ['sub', 'deep', 'none', 'x'],
      ['sub', 'deep', 'file.txt', 'x'],
      ['sub', 'link', 'x', 'y'],
      ['sub', 'pipe'],
      ['sub', 'deep', 'none'],
    ];
    for (const path of paths) {
      for (const op of ['open', 'statAt', 'mkdirAt', 'unlinkAt', 'readlinkAt', 'setTimesAt'])
        expect(await asked.code(op, { dir: FIRST, path: [...path, 'z'], flags: {}, accessed: 'x' })).not.toBe(
          'done',
        );
    }
    expect(countDescriptors()).toBe(before);
  });

  it('opens nothing for a call that asks for nothing', async () => {
    const before = countDescriptors();
    using idle = open();
    expect(countDescriptors()).toBe(before);
    expect(await idle.openCode(FIRST, ['sub'])).toBe('done');
    expect(countDescriptors()).toBeGreaterThan(before);
  });

  it('records each use and each denial once', async () => {
    for (let round = 0; round < 3; round++) {
      await asked.open(FIRST, ['sub', 'deep', 'file.txt']);
      await asked.code('mkdirAt', { dir: BUNDLE, path: ['x'] });
    }
    await asked.value('mkdirAt', { dir: FIRST, path: ['made'] });
    expect(asked.broker.used.map((event) => event.asked)).toEqual([
      'read /workspace/sub/deep/file.txt',
      'write /workspace/made',
    ]);
    expect(asked.broker.denied.map((event) => event.asked)).toEqual(['write /skill/x']);
    for (let at = 0; at < 100; at++) await asked.code('mkdirAt', { dir: BUNDLE, path: [`n${at}`] });
    expect(asked.broker.denied.length).toBe(64);
  });
});
