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
} from '../../src/cell/frames.ts';

const LIMITS = { maxBytes: 64 * 1024, maxFrames: 100 };

interface Read {
  frames: GuestFrame[];
  faults: FrameFault[];
}

/** What a reader makes of these chunks. */
function read(chunks: Uint8Array[], limits: FrameLimits = LIMITS): Read {
  const channel = new PassThrough();
  const seen: Read = { frames: [], faults: [] };
  readFrames(channel, limits, {
    onFrame: (frame) => seen.frames.push(frame),
    onFault: (fault) => seen.faults.push(fault),
  });
  // As a socket does it: each chunk is one event, and the reader never sees more than it was given.
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
  test('are the same wherever the stream is cut', () => {
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

  test('any objects come back, byte by byte or all at once', () => {
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

  test('are read no more after their handler threw, and whoever owns the channel is told', () => {
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

  test('carry their length', () => {
    const seen = read([rawFrame('{"a":1}')]);
    expect(seen.frames[0]?.bytes).toBe(7);
  });

  test('a frame of exactly the largest size is read, one more byte is a fault before anything is held', () => {
    const limits = { maxBytes: 20, maxFrames: 10 };
    expect(read([rawFrame(`{"a":"${'x'.repeat(12)}"}`)], limits).frames).toHaveLength(1);
    const header = Buffer.from([21, 0, 0, 0]);
    expect(read([header], limits)).toEqual({ frames: [], faults: [{ kind: 'too_large', bytes: 21 }] });
  });

  test('only a reply may be large, and anything else is a fault before its bytes are held', () => {
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

  test('a large reply is handed on unparsed, wherever the stream is cut', () => {
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

  test('all frames together are capped in bytes, replies left out', () => {
    const limits = { maxFrames: 100, maxTotalBytes: 1000 };
    const told = Array.from({ length: 50 }, () => encodeFrame({ t: 'denied', asked: 'x'.repeat(80) }));
    const seen = read(told, limits);
    expect(seen.frames.length).toBeLessThan(11);
    expect(seen.faults).toEqual([{ kind: 'malformed', message: 'more than 1000 bytes of frames' }]);
  });

  test('the largest length that a header can hold is a fault', () => {
    expect(read([Buffer.alloc(4, 0xff)]).faults).toEqual([{ kind: 'too_large', bytes: 0xff_ff_ff_ff }]);
  });

  test('more frames than allowed are a fault, and the allowed ones are delivered', () => {
    const stream = Buffer.concat(Array.from({ length: 5 }, (_, n) => encodeFrame({ n })));
    const seen = read([stream], { maxBytes: 100, maxFrames: 3 });
    expect(bodies(seen)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
    expect(seen.faults).toEqual([{ kind: 'malformed', message: 'more than 3 frames' }]);
  });

  test.each([
    ['nothing', ''],
    ['no JSON', '{"a":'],
    ['a list', '[1]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['two values', '{}{}'],
    ['no UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)],
    ['a key twice', '{"t":"result","t":"error"}'],
  ])('a frame that holds %s is a fault, once, and ends the reading', (_, content) => {
    const seen = read([rawFrame(content), encodeFrame({ t: 'later' }), rawFrame(content)]);
    expect(seen.frames).toEqual([]);
    expect(seen.faults).toHaveLength(1);
    expect(seen.faults[0]?.kind).toBe('malformed');
  });

  test('no bytes whatever make the reader throw', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 8 }), (chunks) => {
        expect(read(chunks).faults.length).toBeLessThanOrEqual(1);
      }),
    );
  });
});
