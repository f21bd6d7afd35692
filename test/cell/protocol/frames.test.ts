import { PassThrough } from 'node:stream';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  encodeFrame,
  readFrames,
  type FrameFault,
  type FrameLimits,
  type GuestFrame,
  type LargeReply,
} from '../../../src/cell/protocol/frames.ts';

const LIMITS = { maxBytes: 64 * 1024, maxFrames: 100 };

interface Read {
  frames: GuestFrame[];
  faults: FrameFault[];
}

/** Feeds the chunks to a reader and collects what it delivers. */
function read(chunks: Uint8Array[], limits: FrameLimits = LIMITS): Read {
  const channel = new PassThrough();
  const seen: Read = { frames: [], faults: [] };
  readFrames(channel, limits, {
    onFrame: (frame) => seen.frames.push(frame),
    onFault: (fault) => seen.faults.push(fault),
  });
  // As with a socket, each chunk is one event.
  for (const chunk of chunks) channel.emit('data', Buffer.from(chunk));
  return seen;
}

const bodies = (seen: Read): unknown[] => seen.frames.map(({ body }) => body);

function rawFrame(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content as string);
  const header = Buffer.alloc(4);
  header.writeUInt32LE(bytes.length);
  return Buffer.concat([header, bytes]);
}

describe('frames', () => {
  test('are read the same wherever the stream is split', () => {
    const sent = [{ t: 'ä😀' }, {}, { list: [1, { deep: null }] }];
    const stream = Buffer.concat(sent.map((body) => encodeFrame(body)));
    for (let first = 0; first <= stream.length; first++) {
      for (let second = first; second <= stream.length; second++) {
        const seen = read([
          stream.subarray(0, first),
          stream.subarray(first, second),
          stream.subarray(second),
        ]);
        expect(bodies(seen)).toEqual(sent);
        expect(seen.faults).toEqual([]);
      }
    }
  });

  test('contain the objects that were encoded, whether read byte by byte or at once', () => {
    const object = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 4 }));
    fc.assert(
      fc.property(fc.array(object, { maxLength: 5 }), (sent) => {
        const stream = Buffer.concat(sent.map((body) => encodeFrame(body)));
        const expected: unknown = JSON.parse(JSON.stringify(sent));
        expect(bodies(read([stream]))).toEqual(expected);
        expect(bodies(read([...stream].map((byte) => Uint8Array.of(byte))))).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  test('are not read after a handler threw, and the owner of the channel gets the error', () => {
    const channel = new PassThrough();
    const thrown: unknown[] = [];
    let frames = 0;
    const fault = new Error('ours');
    readFrames(
      channel,
      { maxFrames: 10 },
      {
        onFrame: () => {
          frames++;
          throw fault;
        },
        onFault: () => undefined,
        onThrown: (error) => thrown.push(error),
      },
    );
    channel.emit('data', Buffer.concat([rawFrame('{}'), rawFrame('{}')]));
    channel.emit('data', rawFrame('{}'));
    expect(thrown).toEqual([fault]);
    expect(frames).toBe(1);
  });

  test('start with their length', () => {
    const seen = read([rawFrame('{"a":1}')]);
    expect(seen.frames[0]?.bytes).toBe(7);
  });

  test('are read up to the maximum size; one more byte is a fault before anything is buffered', () => {
    const limits = { maxBytes: 20, maxFrames: 10 };
    expect(read([rawFrame(`{"a":"${'x'.repeat(12)}"}`)], limits).frames).toHaveLength(1);
    const header = Buffer.from([21, 0, 0, 0]);
    expect(read([header], limits)).toEqual({ frames: [], faults: [{ kind: 'too_large', bytes: 21 }] });
  });

  test('may be large only if they are replies; others are a fault before they are buffered', () => {
    const limits = { maxReplyBytes: 16 * 1024 * 1024, maxFrames: 10 };
    const large = (start: string): Buffer => {
      const header = Buffer.alloc(4);
      header.writeUInt32LE(8 * 1024 * 1024);
      return Buffer.concat([header, Buffer.from(start.padEnd(64))]);
    };
    for (const t of ['denied', 'used', 'ready', 'loaded', 'ask', 'log', 'resul', 'results', 'nonsense'])
      expect(read([large(`{"t":"${t}","asked":"`)], limits).faults).toEqual([
        { kind: 'too_large', bytes: 8 * 1024 * 1024 },
      ]);
    expect(read([large('{"a":1,"t":"result"')], limits).faults).toHaveLength(1);
    expect(read([large('{"t":"result","value":"')], limits).faults).toEqual([]);
    expect(read([large('{"t": "error", "type":"')], limits).faults).toEqual([]);
  });

  test('are passed on unparsed if they are large replies, wherever the stream is split', () => {
    const json = JSON.stringify({ t: 'result', value: 'x'.repeat(100_000) });
    const stream = Buffer.concat([rawFrame(json), encodeFrame({ t: 'later' })]);
    for (const at of [1, 3, 4, 10, 40, 68, 70, 5000, 99_999, stream.length - 1]) {
      const replies: LargeReply[] = [];
      const channel = new PassThrough();
      const frames: unknown[] = [];
      readFrames(
        channel,
        { maxReplyBytes: 200_000, maxFrames: 10 },
        {
          onFrame: ({ body }) => frames.push(body),
          onLargeReply: (reply) => replies.push(reply),
          onFault: (fault) => frames.push(fault),
        },
      );
      for (const chunk of [stream.subarray(0, at), stream.subarray(at)]) channel.emit('data', chunk);
      expect(replies.map(({ kind, json: held }) => [kind, held.toString()])).toEqual([['result', json]]);
      expect(frames).toEqual([{ t: 'later' }]);
    }
  });

  test('are capped in total bytes, not counting replies', () => {
    const limits = { maxFrames: 100, maxTotalBytes: 1000 };
    const denials = Array.from({ length: 50 }, () => encodeFrame({ t: 'denied', asked: 'x'.repeat(80) }));
    const seen = read(denials, limits);
    expect(seen.frames.length).toBeLessThan(11);
    expect(seen.faults).toEqual([{ kind: 'malformed', message: 'more than 1000 bytes of frames' }]);
  });

  test('are a fault with the largest length that a header can hold', () => {
    expect(read([Buffer.alloc(4, 0xff)]).faults).toEqual([{ kind: 'too_large', bytes: 0xff_ff_ff_ff }]);
  });

  test('beyond the maximum number are a fault, after the allowed ones were delivered', () => {
    const stream = Buffer.concat(Array.from({ length: 5 }, (_, n) => encodeFrame({ n })));
    const seen = read([stream], { maxBytes: 100, maxFrames: 3 });
    expect(bodies(seen)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
    expect(seen.faults).toEqual([{ kind: 'malformed', message: 'more than 3 frames' }]);
  });

  test.each([
    ['nothing', ''],
    ['invalid JSON', '{"a":'],
    ['a list', '[1]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['two values', '{}{}'],
    ['no UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)],
    ['a key twice', '{"t":"result","t":"error"}'],
  ])('that contain %s are reported as a fault once and end the reading', (_, content) => {
    const seen = read([rawFrame(content), encodeFrame({ t: 'later' }), rawFrame(content)]);
    expect(seen.frames).toEqual([]);
    expect(seen.faults).toHaveLength(1);
    expect(seen.faults[0]?.kind).toBe('malformed');
  });

  test('never make the reader throw, whatever their bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 8 }), (chunks) => {
        expect(read(chunks).faults.length).toBeLessThanOrEqual(1);
      }),
    );
  });
});
