import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { LogCapture } from '../../../src/cell/protocol/log-capture.ts';

const KEPT = 64 * 1024;

describe('LogCapture', () => {
  test('keeps the output of two streams in order of arrival', async () => {
    const [out, err] = [new PassThrough(), new PassThrough()];
    const logs = new LogCapture([out, err], () => undefined);
    out.write('one ä\n');
    await logs.settle();
    err.write('two\n');
    await logs.settle();
    expect(logs.text()).toBe('one ä\ntwo\n');
    expect(logs.totalBytes).toBe(11);
  });

  test('decodes a character that arrives in two chunks', async () => {
    const out = new PassThrough();
    const logs = new LogCapture([out], () => undefined);
    for (const byte of Buffer.from('ä😀')) out.write(Uint8Array.of(byte));
    await logs.settle();
    expect(logs.text()).toBe('ä😀');
  });

  test('counts everything and keeps the beginning', async () => {
    const out = new PassThrough();
    const totals: number[] = [];
    const logs = new LogCapture([out], (total) => totals.push(total));
    for (let n = 0; n < 10; n++) out.write('x'.repeat(10_000));
    await logs.settle();
    expect(logs.totalBytes).toBe(100_000);
    expect(totals.at(-1)).toBe(100_000);
    expect(logs.text()).toBe(`${'x'.repeat(KEPT)}\n[${100_000 - KEPT} more bytes of output were not kept]`);
  });

  test('adds no note if the output is exactly the maximum', async () => {
    const out = new PassThrough();
    const logs = new LogCapture([out], () => undefined);
    out.write('y'.repeat(KEPT));
    await logs.settle();
    expect(logs.text()).toBe('y'.repeat(KEPT));
  });

  test('ignores a stream that breaks', async () => {
    const out = new PassThrough();
    const logs = new LogCapture([out], () => undefined);
    out.write('before');
    await logs.settle();
    out.destroy(new Error('reset'));
    await logs.settle();
    expect(logs.text()).toBe('before');
  });

  test('handles bytes that are not valid text', async () => {
    const out = new PassThrough();
    const logs = new LogCapture([out], () => undefined);
    out.write(Buffer.from([0x61, 0xff, 0xfe, 0x62]));
    await logs.settle();
    expect(logs.text()).toMatch(/^a\ufffd+b$/);
  });
});
