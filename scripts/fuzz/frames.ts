/**
 * Frames of a cell in streams that are split anywhere. Whatever arrives: nothing is thrown, one fault ends the reading, no
 * frame beyond its cap is delivered, and what is delivered does not depend on where the stream was split.
 *
 * @module
 */
import { deepStrictEqual } from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { asError, asEvent } from '../../src/cell/protocol/guest-frames.ts';
import {
  encodeFrame,
  MAX_SMALL_FRAME,
  readFrames,
  type FrameLimits,
} from '../../src/cell/protocol/frames.ts';
import { readReply } from '../../src/cell/protocol/read-reply.ts';
import { mutant, randomOf } from './random.ts';
import { fuzzTarget, type FuzzTarget } from './target.ts';

const LIMITS: FrameLimits = {
  maxReplyBytes: 200_000,
  maxPayloadBytes: 1000,
  maxFrames: 20,
  maxTotalBytes: 40_000,
};

const event = { capability: 'env', asked: 'read A', declared: 'not in env_vars' };
const LARGE = { t: 'result', value: Array.from({ length: 4000 }, (_, n) => ({ [`k${n}`]: 1e21 })) };
const CORPUS: readonly Uint8Array[] = [
  [
    encodeFrame({ t: 'ready' }),
    encodeFrame({ t: 'loaded' }),
    encodeFrame({ t: 'result', value: { a: [1, 'ä'] } }),
  ],
  [encodeFrame({ t: 'denied', ...event }), encodeFrame({ t: 'used', ...event, capability: 'module' })],
  [encodeFrame({ t: 'error', type: 'E', message: 'm', trace: '', denied: event, limit: 'memory' })],
  [encodeFrame({ t: 'log' }, Buffer.from('hello')), encodeFrame({ t: 'ask', id: 1, op: 'open', args: {} })],
  [encodeFrame({ t: 'denied', ...event, asked: 'x'.repeat(MAX_SMALL_FRAME - 200) })],
  [encodeFrame(LARGE)],
  [encodeFrame({ t: 'error', type: 'E', message: 'x'.repeat(50_000), trace: '' })],
  [Buffer.from([0xff, 0xff, 0xff, 0xff])],
].map((frames) => Buffer.concat(frames));
const WORDS = {
  bytes: [0x00, 0x22, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d, 0x5c, 0xff],
  runs: [
    [0xff, 0xff, 0xff, 0xff],
    [...Buffer.from('"t":"result"')],
    [...Buffer.from('"payload_bytes":99')],
    [...Buffer.from('[[[[[[[[')],
    [...Buffer.from('1e999')],
  ],
};

interface Seen {
  told: unknown[];
  faults: number;
}

export const framesTarget: FuzzTarget = fuzzTarget({
  name: 'frames',
  suiteRuns: 500,
  input: (seed) => ({ seed, stream: mutant({ corpus: CORPUS, seed, ...WORDS }) }),
  check: ({ seed, stream }) => {
    const whole = read([stream]);
    deepStrictEqual(read(cut(stream, seed)), whole);
    return whole.told.length > 0;
  },
});

function read(chunks: readonly Uint8Array[]): Seen {
  const channel = new PassThrough();
  const seen: Seen = { told: [], faults: 0 };
  readFrames(channel, LIMITS, {
    onFrame: ({ body, bytes, payload }) => {
      if (seen.faults > 0) throw new Error('A frame was delivered after a fault');
      const isReply = body['t'] === 'result' || body['t'] === 'error';
      if (!isReply && bytes - (payload?.length ?? 0) > MAX_SMALL_FRAME)
        throw new Error('A frame beyond its cap was delivered');
      seen.told.push([body, payload?.toString('hex'), asError(body), asEvent(body, 'used')]);
    },
    onLargeReply: ({ kind, json }) => seen.told.push(readReply(kind, json)),
    onFault: () => seen.faults++,
  });
  for (const chunk of chunks) channel.emit('data', Buffer.from(chunk));
  if (seen.faults > 1) throw new Error('There was more than one fault');
  return seen;
}

function cut(stream: Uint8Array, seed: number): Uint8Array[] {
  const random = randomOf(seed ^ 0x5eed);
  const places = Array.from({ length: 1 + random(6) }, () => random(stream.length + 1)).sort((a, b) => a - b);
  places.unshift(0);
  return places.map((start, at) => stream.subarray(start, places[at + 1] ?? stream.length));
}
