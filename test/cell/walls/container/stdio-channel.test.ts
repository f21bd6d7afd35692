/**
 * A program that needs no parameters may exit before they reach it.
 *
 * @module
 */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { StdioChannel } from '../../../../src/cell/walls/container/stdio-channel.ts';
import { encodeFrame, readFrames } from '../../../../src/cell/protocol/frames.ts';

test.each([
  ['one value', '{"a": 1}', { t: 'result', value: { a: 1 } }],
  ['two values', '1\n2\n', { t: 'error', type: 'NotJson' }],
])('a program that prints %s and exits before its call still answers the call', async (_, text, reply) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const exited = Promise.resolve({ code: 0, signal: null });
  const channel = new StdioChannel({ input, output, started: Promise.resolve(true), exited, maxBytes: 1000 });
  const frames: unknown[] = [];
  readFrames(
    channel,
    { maxBytes: 1000, maxFrames: 10 },
    {
      onFrame: ({ body }) => frames.push(body),
      onFault: (fault) => frames.push(fault),
    },
  );
  output.end(text);
  await new Promise(setImmediate);
  expect(frames).toEqual([{ t: 'ready' }]);
  channel.write(encodeFrame({ t: 'call', params: {} }));
  await new Promise((resolve) => channel.once('end', resolve));
  expect(frames).toMatchObject([{ t: 'ready' }, reply]);
});
