import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { BrokerError } from '../../../guest/wasm/wasi/broker-client.ts';
import type { HostOptions } from '../../../guest/wasm/wasi/call.ts';
import { parsePath } from '../../../guest/wasm/wasi/files/path.ts';
import { ending, type Harness, harness, ok, text } from './harness.ts';
import { MemoryBroker } from './memory-broker.ts';

const TYPES = 'filesystem/types';
const NO_FOLLOW = { 'symlink-follow': false };

interface Files extends Harness {
  root: unknown;
  on: (descriptor: unknown, method: string, ...args: unknown[]) => unknown;
  open: (path: string, flags?: string[], access?: string[]) => Promise<unknown>;
}

function files(options: Partial<HostOptions> = {}): Files {
  const base = harness(options);
  const [[root]] = base.use('filesystem/preopens', 'get-directories') as [[unknown, string]];
  const on = (descriptor: unknown, method: string, ...args: unknown[]): unknown =>
    base.use(TYPES, `[method]descriptor.${method}`, descriptor, ...args);
  const open = async (path: string, flags: string[] = [], access: string[] = ['read']): Promise<unknown> =>
    on(root, 'open-at', NO_FOLLOW, path, openFlags(flags), accessFlags(access));
  return { ...base, root, on, open };
}

function openFlags(set: string[]): Record<string, boolean> {
  return flagsFrom(['create', 'directory', 'exclusive', 'truncate'], set);
}

function accessFlags(set: string[]): Record<string, boolean> {
  const names = ['read', 'write', 'file-integrity-sync', 'data-integrity-sync', 'requested-write-sync'];
  return flagsFrom([...names, 'mutate-directory'], set);
}

function flagsFrom(names: string[], set: string[]): Record<string, boolean> {
  return Object.fromEntries(names.map((name) => [name, set.includes(name)]));
}

function readOnly(): { broker: MemoryBroker; files: Files } {
  const broker = new MemoryBroker();
  broker.addFile('a.txt', 'hello');
  return { broker, files: files({ broker, preopens: [broker.preopen(false)] }) };
}

describe('files', () => {
  test('can be created, written, read, measured and removed', async () => {
    const { on, open, root, broker } = files();
    const file = ok(await open('a.txt', ['create'], ['read', 'write']));
    expect(await on(file, 'write', Buffer.from('hello world'), 0n)).toEqual({ ok: 11n });
    expect(await on(file, 'read', 5n, 6n)).toEqual({ ok: [new Uint8Array(Buffer.from('world')), false] });
    expect(await on(file, 'read', 5n, 11n)).toEqual({ ok: [new Uint8Array(0), true] });
    expect(await on(file, 'set-size', 5n)).toEqual({ ok: undefined });
    expect(await on(file, 'sync')).toEqual({ ok: undefined });
    expect(await on(file, 'stat')).toMatchObject({
      ok: { type: 'regular-file', size: 5n, 'link-count': 1n },
    });
    expect(on(file, 'get-type')).toEqual({ ok: 'regular-file' });
    expect(on(file, 'get-flags')).toMatchObject({
      ok: { read: true, write: true, 'mutate-directory': false },
    });
    expect(on(file, 'advise', 0n, 1n, 'normal')).toEqual({ ok: undefined });
    expect(broker.text('a.txt')).toBe('hello');
    expect(await on(root, 'unlink-file-at', 'a.txt')).toEqual({ ok: undefined });
    expect(await open('a.txt')).toEqual({ err: 'no-entry' });
  });

  test('stream from and to an offset, and outlive their descriptor', async () => {
    const { on, open, use, broker } = files();
    broker.addFile('a.txt', '0123456789');
    const file = ok(await open('a.txt', [], ['read', 'write'])) as { drop(): void };
    const input = ok(on(file, 'read-via-stream', 4n)) as { drop(): void };
    const output = ok(on(file, 'write-via-stream', 2n)) as { drop(): void };
    const tail = ok(on(file, 'append-via-stream')) as { drop(): void };
    file.drop();
    const write = (to: unknown, line: string): unknown =>
      use('io/streams', '[method]output-stream.blocking-write-and-flush', to, Buffer.from(line));
    expect(text(ok(await use('io/streams', '[method]input-stream.blocking-read', input, 3n)))).toBe('456');
    await write(output, 'AB');
    await write(output, 'CD');
    await write(tail, '!');
    expect(broker.text('a.txt')).toBe('01ABCD6789!');
    expect(broker.open.size).toBe(2);
    for (const stream of [input, output, tail]) stream.drop();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(broker.open.size).toBe(1);
  });

  test('receive everything that is written to a stream, however little is accepted at a time', async () => {
    const { on, open, use, broker } = files();
    const long = 'abcdefg'.repeat(1000);
    const file = ok(await open('a.txt', ['create'], ['write']));
    for (const stream of [ok(on(file, 'write-via-stream', 0n)), ok(on(file, 'append-via-stream'))]) {
      const write = '[method]output-stream.blocking-write-and-flush';
      expect(await use('io/streams', write, stream, Buffer.from(long))).toEqual({ ok: undefined });
    }
    expect(broker.text('a.txt')).toBe(long + long);
    expect(await on(file, 'write', Buffer.from(long), 0n)).toEqual({ ok: 1000n });
  });

  test('have times and an identity', async () => {
    const { on, open, root, broker } = files();
    broker.addFile('a', '');
    broker.addFile('b', '');
    const [a, b] = [ok(await open('a')), ok(await open('b'))];
    const stamp = { tag: 'timestamp', val: { seconds: 12n, nanoseconds: 34 } };
    expect(await on(a, 'set-times', { tag: 'no-change' }, stamp)).toEqual({ ok: undefined });
    expect(await on(root, 'stat-at', NO_FOLLOW, 'a')).toMatchObject({
      ok: { 'data-modification-timestamp': { seconds: 12n, nanoseconds: 34 } },
    });
    await on(root, 'set-times-at', NO_FOLLOW, 'a', { tag: 'now' }, { tag: 'now' });
    expect(await on(a, 'stat')).toMatchObject({
      ok: { 'data-modification-timestamp': { seconds: 2_000_000_000n, nanoseconds: 0 } },
    });
    expect(await on(a, 'is-same-object', b)).toBe(false);
    expect(await on(a, 'is-same-object', ok(await open('a')))).toBe(true);
    expect(await on(a, 'metadata-hash')).toEqual(await on(root, 'metadata-hash-at', NO_FOLLOW, './a'));
    expect(await on(a, 'metadata-hash')).not.toEqual(await on(b, 'metadata-hash'));
  });

  test('can be directories, which are created, listed, renamed and removed', async () => {
    const { on, open, root, use, broker } = files();
    broker.addFile('a', '');
    expect(await on(root, 'create-directory-at', 'd')).toEqual({ ok: undefined });
    expect(await on(root, 'create-directory-at', 'd')).toEqual({ err: 'exist' });
    const d = ok(await open('d', ['directory']));
    expect(await on(root, 'rename-at', 'a', d, 'b')).toEqual({ ok: undefined });
    expect(await on(root, 'remove-directory-at', 'd')).toEqual({ err: 'not-empty' });
    expect(await on(d, 'link-at', NO_FOLLOW, 'b', root, 'c')).toEqual({ ok: undefined });
    const entries = ok(await on(root, 'read-directory'));
    const next = (): unknown => use(TYPES, '[method]directory-entry-stream.read-directory-entry', entries);
    expect([next(), next(), next()]).toEqual([
      { ok: { name: 'd', type: 'directory' } },
      { ok: { name: 'c', type: 'regular-file' } },
      { ok: undefined },
    ]);
    expect(await on(d, 'unlink-file-at', 'b')).toEqual({ ok: undefined });
    expect(await on(root, 'remove-directory-at', 'd/')).toEqual({ ok: undefined });
    expect(await on(d, 'read', 1n, 0n)).toEqual({ err: 'is-directory' });
  });

  test('in a granted directory stay open when its handle is closed', async () => {
    const { root, open, broker } = files();
    (root as { drop(): void }).drop();
    expect(broker.ops()).toEqual([]);
    broker.addFile('a', 'x');
    expect(await open('a')).toHaveProperty('ok');
  });

  test('that are left open are closed at the end of the call', async () => {
    const { open, host, broker } = files();
    broker.addFile('a', 'x');
    ok(await open('a'));
    ok(await open('a'));
    host.finish();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(broker.open.size).toBe(1);
  });

  test('are limited in number, and so are requests', async () => {
    const few = files({ limits: { openFiles: 2 } });
    few.broker.addFile('a', 'x');
    ok(await few.open('a'));
    ok(await few.open('a'));
    expect(await ending(() => few.open('a'))).toEqual({ kind: 'limit', detail: 'files' });
    const rare = files({ limits: { hostCalls: 1 } });
    await rare.open('a');
    expect(await ending(() => rare.open('a'))).toEqual({ kind: 'limit', detail: 'host_calls' });
  });
});

describe('the file system refuses or reports', () => {
  test('every change of a read-only directory, before the broker is asked', async () => {
    const { broker, files: f } = readOnly();
    const now = { tag: 'now' };
    const attempts = [
      await f.open('a.txt', [], ['read', 'write']),
      await f.open('a.txt', ['truncate'], ['read']),
      await f.open('new', ['create'], ['read']),
      await f.open('a.txt', [], ['read', 'mutate-directory']),
      await f.on(f.root, 'create-directory-at', 'd'),
      await f.on(f.root, 'unlink-file-at', 'a.txt'),
      await f.on(f.root, 'remove-directory-at', 'd'),
      await f.on(f.root, 'rename-at', 'a.txt', f.root, 'b'),
      await f.on(f.root, 'link-at', NO_FOLLOW, 'a.txt', f.root, 'b'),
      await f.on(f.root, 'symlink-at', '/etc', 'b'),
      await f.on(f.root, 'set-times', now, now),
      await f.on(f.root, 'set-times-at', NO_FOLLOW, 'a.txt', now, now),
    ];
    expect(attempts).toEqual(attempts.map(() => ({ err: 'read-only' })));
    expect(broker.ops()).toEqual([]);
    expect(f.denied).toHaveLength(attempts.length);
    expect(f.denied[0]).toBe('filesystem: open for writing in /data');
    const file = ok(await f.open('a.txt'));
    expect(await f.on(file, 'set-size', 0n)).toEqual({ err: 'bad-descriptor' });
    expect(await f.on(file, 'write', Buffer.from('x'), 0n)).toEqual({ err: 'bad-descriptor' });
    expect(f.on(file, 'write-via-stream', 0n)).toEqual({ err: 'bad-descriptor' });
    expect(f.on(f.root, 'get-flags')).toMatchObject({ ok: { 'mutate-directory': false } });
    expect(broker.text('a.txt')).toBe('hello');
  });

  test('every path out of the granted directory, but none that leads to another part of it', async () => {
    const broker = new MemoryBroker();
    const f = files({ broker, preopens: [broker.preopen(true)] });
    for (const path of ['../secret', '/etc/passwd', 'below/../../x'])
      expect(await f.open(path)).toEqual({ err: 'not-permitted' });
    expect(f.denied).toEqual(['/secret', '/etc/passwd', '/x'].map((path) => `filesystem: read ${path}`));
    await f.on(f.root, 'create-directory-at', 'below');
    const below = ok(await f.open('below', ['directory']));
    const access = [NO_FOLLOW, '../other', openFlags([]), accessFlags(['read'])];
    expect(await f.on(below, 'open-at', ...access)).toEqual({ err: 'not-permitted' });
    expect(f.denied).toHaveLength(3);
  });

  test('symbolic links: none is created, none is followed', async () => {
    const { on, open, root, broker } = files();
    broker.addLink('l', '../../etc/passwd');
    expect(await on(root, 'symlink-at', '/etc', 'evil')).toEqual({ err: 'not-permitted' });
    expect(await open('l')).toEqual({ err: 'loop' });
    expect(await on(root, 'readlink-at', 'l')).toEqual({ ok: '../../etc/passwd' });
    expect(broker.ops()).toContain('symlinkAt');
  });

  test('paths that lead out', async () => {
    const { open, on, root, broker } = files();
    broker.addFile('a', 'x');
    expect(await open('/etc/passwd')).toEqual({ err: 'not-permitted' });
    expect(await open('../a')).toEqual({ err: 'not-permitted' });
    expect(await open('d/../../a')).toEqual({ err: 'not-permitted' });
    expect(await open('a\0b')).toEqual({ err: 'invalid' });
    expect(await open('..\\a')).toEqual({ err: 'invalid' });
    expect(await open('')).toEqual({ err: 'no-entry' });
    expect(await open('x'.repeat(256))).toEqual({ err: 'name-too-long' });
    expect(await open('x/'.repeat(5000))).toEqual({ err: 'name-too-long' });
    expect(broker.ops()).toEqual([]);
    expect(await open('a/')).toEqual({ err: 'not-directory' });
    expect(await on(root, 'stat-at', NO_FOLLOW, 'a/.')).toEqual({ err: 'not-directory' });
    expect(await on(root, 'unlink-file-at', 'a/')).toEqual({ err: 'not-directory' });
  });

  test('special segments of paths, which never reach the broker', () => {
    const part = fc.oneof(fc.constantFrom('.', '..', '', 'a', 'b\\c', 'n\0l'), fc.string());
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        let segments: string[];
        try {
          ({ segments } = parsePath(parts.join('/')));
        } catch (error) {
          return error instanceof BrokerError;
        }
        return segments.every((one) => one !== '' && one !== '.' && one !== '..' && !/[\0/\\]/.test(one));
      }),
    );
  });
});
