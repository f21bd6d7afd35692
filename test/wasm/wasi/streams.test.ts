import { describe, expect, test } from 'vitest';

import { BrokerError } from '../../../guest/wasm/wasi/broker-client.ts';
import { Call } from '../../../guest/wasm/wasi/call.ts';
import { InputStream, OutputStream } from '../../../guest/wasm/wasi/streams.ts';
import { ending, harness, ok, text } from './harness.ts';
import { MemoryBroker } from './memory-broker.ts';

const call = new Call({ broker: new MemoryBroker(), limits: { streamBytes: 100 } });
const later = async <T>(value: T): Promise<T> => {
  await new Promise((resolve) => setTimeout(resolve, 2));
  return value;
};

describe('an input stream', () => {
  test('returns nothing if nothing has arrived yet, and a pollable reports when it has', async () => {
    const { use } = harness();
    const chunks = ['one', 'two', ''];
    const stream = new InputStream(call, { read: () => later(Buffer.from(chunks.shift() ?? '')) });
    const read = (): unknown => use('io/streams', '[method]input-stream.read', stream, 10n);
    expect(text(ok(read()))).toBe('');
    const pollable = use('io/streams', '[method]input-stream.subscribe', stream);
    expect(use('io/poll', '[method]pollable.ready', pollable)).toBe(false);
    await use('io/poll', '[method]pollable.block', pollable);
    expect(text(ok(read()))).toBe('one');
    expect(await use('io/poll', 'poll', [pollable])).toEqual([0]);
    expect(text(ok(read()))).toBe('two');
    await use('io/poll', 'poll', [pollable]);
    expect(read()).toEqual({ err: { tag: 'closed' } });
  });

  test('skips, and returns no more than requested', async () => {
    const { use } = harness();
    const chunks = ['abcdef', ''];
    const stream = new InputStream(call, { read: () => later(Buffer.from(chunks.shift() ?? '')) });
    expect(await use('io/streams', '[method]input-stream.blocking-skip', stream, 2n)).toEqual({ ok: 2n });
    expect(use('io/streams', '[method]input-stream.skip', stream, 1n)).toEqual({ ok: 1n });
    expect(text(ok(use('io/streams', '[method]input-stream.read', stream, 2n)))).toBe('de');
    expect(text(ok(use('io/streams', '[method]input-stream.read', stream, 0n)))).toBe('');
  });

  test('reports a failure once, then is closed', async () => {
    const { use } = harness();
    const stream = new InputStream(call, {
      read: () => Promise.reject(new BrokerError('noent', 'It is gone')),
    });
    const read = (): unknown => use('io/streams', '[method]input-stream.blocking-read', stream, 5n);
    const failed = (await read()) as { err: { tag: string; val: unknown } };
    expect(failed.err.tag).toBe('last-operation-failed');
    expect(use('io/error', '[method]error.to-debug-string', failed.err.val)).toBe('It is gone');
    expect(use('filesystem/types', 'filesystem-error-code', failed.err.val)).toBe('no-entry');
    expect(await read()).toEqual({ err: { tag: 'closed' } });
  });

  test('is limited in size', async () => {
    const stream = new InputStream(call, { read: () => new Uint8Array(40) });
    expect(stream.read(40)).toMatchObject({ ok: { length: 40 } });
    expect(stream.read(40)).toMatchObject({ ok: { length: 40 } });
    expect(await ending(() => stream.read(40))).toEqual({ kind: 'limit', detail: 'stream' });
  });
});

describe('an output stream', () => {
  const collector = (): { stream: OutputStream; written: () => string } => {
    let all = '';
    const write = async (bytes: Uint8Array): Promise<void> => {
      await later(undefined);
      all += text(bytes);
    };
    return { stream: new OutputStream(call, { write }), written: () => all };
  };

  test('accepts as much as check-write allows, and nothing while it is busy', async () => {
    const { use } = harness();
    const { stream, written } = collector();
    expect(
      await ending(() => use('io/streams', '[method]output-stream.write', stream, Buffer.from('x'))),
    ).toEqual({
      kind: 'trap',
      detail: 'A stream was written to without permission for that many bytes',
    });
    expect(use('io/streams', '[method]output-stream.check-write', stream)).toEqual({ ok: 65_536n });
    expect(use('io/streams', '[method]output-stream.write', stream, Buffer.from('abc'))).toEqual({
      ok: undefined,
    });
    expect(use('io/streams', '[method]output-stream.check-write', stream)).toEqual({ ok: 0n });
    await use('io/poll', 'poll', [use('io/streams', '[method]output-stream.subscribe', stream)]);
    expect(written()).toBe('abc');
    expect(use('io/streams', '[method]output-stream.check-write', stream)).toEqual({ ok: 65_536n });
    expect(use('io/streams', '[method]output-stream.write-zeroes', stream, 2n)).toEqual({ ok: undefined });
    expect(await use('io/streams', '[method]output-stream.blocking-flush', stream)).toEqual({
      ok: undefined,
    });
    expect(written()).toBe('abc\0\0');
    await use('io/streams', '[method]output-stream.blocking-write-zeroes-and-flush', stream, 1n);
    expect(written()).toBe('abc\0\0\0');
  });

  test('that is dropped while busy finishes its write before it releases the sink; it also does so after a failure', async () => {
    const events: string[] = [];
    const sink = (fails: boolean): OutputStream =>
      new OutputStream(call, {
        write: async () => {
          await later(undefined);
          if (fails) throw new BrokerError('io');
          events.push('written');
        },
        close: () => events.push('closed'),
      });
    const busy = sink(false);
    busy.checkWrite();
    busy.write(Buffer.from('x'));
    busy.drop();
    busy.drop();
    await later(later(undefined));
    expect(events).toEqual(['written', 'closed']);
    const broken = sink(true);
    await broken.blockingWrite(Buffer.from('x'));
    broken.drop();
    expect(events).toEqual(['written', 'closed', 'closed']);
  });

  test('splices from an input stream', async () => {
    const { use } = harness();
    const { stream, written } = collector();
    const chunks = ['hello', ''];
    const source = new InputStream(call, { read: () => later(Buffer.from(chunks.shift() ?? '')) });
    const splice = (): unknown =>
      use('io/streams', '[method]output-stream.blocking-splice', stream, source, 4n);
    expect(await splice()).toEqual({ ok: 4n });
    expect(await splice()).toEqual({ ok: 1n });
    expect(await splice()).toEqual({ err: { tag: 'closed' } });
    expect(written()).toBe('hello');
  });

  test('reports a failed write with the next operation', async () => {
    const stream = new OutputStream(call, { write: () => Promise.reject(new BrokerError('nospc')) });
    expect(await stream.blockingWrite(Buffer.from('x'))).toMatchObject({
      err: { tag: 'last-operation-failed' },
    });
    expect(stream.checkWrite()).toEqual({ err: { tag: 'closed' } });
  });

  test('is limited in size', async () => {
    const stream = new OutputStream(call, { write: () => undefined });
    expect(await stream.blockingWrite(new Uint8Array(100))).toEqual({ ok: undefined });
    expect(await ending(() => stream.blockingWrite(new Uint8Array(1)))).toEqual({
      kind: 'limit',
      detail: 'stream',
    });
  });
});
