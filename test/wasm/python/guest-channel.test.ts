/**
 * Descriptor 3 of a Python cell, to which a skill can write anything.
 *
 * @module
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChannelFault, GuestChannel } from '../../../guest/wasm/python/cell/guest-channel.ts';
import { BrokerError } from '../../../guest/wasm/wasi/broker-client.ts';

interface Opened {
  channel: GuestChannel;
  asked: string[];
  denied: unknown[];
}

function open(isCommand = false): Opened {
  const asked: string[] = [];
  const denied: unknown[] = [];
  const channel = new GuestChannel({
    maxPayload: 1000,
    isCommand,
    onEvent: (body) => denied.push(body),
    ask: (op) => {
      asked.push(op);
      if (op === 'httpRead') throw new BrokerError('denied');
      return { value: { status: 200 }, bytes: Buffer.from('body') };
    },
  });
  return { channel, asked, denied };
}

function frame(body: unknown, payload = ''): Buffer {
  const text = Buffer.from(JSON.stringify(body));
  const header = Buffer.alloc(4);
  header.writeUInt32LE(text.length);
  return Buffer.concat([header, text, Buffer.from(payload)]);
}

test('a command replies with its exit code, and only a command', () => {
  const ended = frame({ t: 'ended', exit_code: 3 });
  const { channel } = open(true);
  channel.write(ended);
  expect(channel.reply?.body).toEqual({ t: 'ended', exit_code: 3 });
  expect(() => channel.write(ended)).toThrow(ChannelFault);
  expect(() => channel.reply).toThrow(ChannelFault);
  const result = open(true).channel;
  expect(() => result.write(frame({ t: 'result' }))).toThrow(ChannelFault);
  expect(() => result.reply).toThrow(ChannelFault);
  expect(() => open().channel.write(ended)).toThrow(ChannelFault);
});

test('the first reply counts, however its bytes are split', () => {
  const { channel } = open();
  const bytes = Buffer.concat([
    frame({ t: 'result', payload_bytes: 2 }, '42'),
    frame({ t: 'result', payload_bytes: 1 }, '7'),
  ]);
  for (const byte of bytes) channel.write(Uint8Array.of(byte));
  expect(Buffer.from(channel.reply?.payload ?? []).toString()).toBe('42');
});

test('only HTTP requests pass, and the answer can be read', () => {
  const { channel, asked } = open();
  for (const op of ['open', 'unlinkAt', 'http', 'httpRead']) channel.write(frame({ t: 'ask', op, args: {} }));
  expect(asked).toEqual(['http', 'httpRead']);
  const into = new Uint8Array(1000);
  const text = Buffer.from(into.subarray(0, channel.read(into))).toString();
  expect(text.match(/nosys/g)).toHaveLength(2);
  expect(text).toContain('{"value":{"status":200},"payload_bytes":4}body');
  expect(text).toContain('"code":"denied"');
});

test('denials are passed on, up to a limit', () => {
  const { channel, denied } = open();
  for (let n = 0; n < 200; n++) channel.write(frame({ t: 'denied', capability: 'env', asked: `read ${n}` }));
  expect(denied).toHaveLength(64);
});

test('a denial is passed on without payload and extra fields, which would make the host misread what follows', () => {
  const { channel, denied } = open();
  const report = { t: 'denied', capability: 'env', asked: 'read A', declared: 'no' };
  channel.write(frame({ ...report, call: 1, payload_bytes: 3 }, 'abc'));
  expect(denied).toEqual([report]);
});

test.each([
  ['an excessive length', Buffer.from([0xff, 0xff, 0xff, 0xff])],
  ['no JSON', Buffer.from([2, 0, 0, 0, 0x7b, 0x7b])],
  ['no object', frame(5)],
  ['an unknown kind', frame({ t: 'init' })],
  ['a payload that is too large', frame({ t: 'result', payload_bytes: 5000 })],
  ['a negative payload length', frame({ t: 'result', payload_bytes: -1 })],
  ['a payload length that is not a number', frame({ t: 'result', payload_bytes: 'many' })],
])('%s is a fault that the guest cannot undo', (_, bytes) => {
  const { channel } = open();
  expect(() => channel.write(bytes)).toThrow(ChannelFault);
  try {
    channel.write(frame({ t: 'result', payload_bytes: 1 }, '1'));
  } catch {
    // The guest could catch it as well.
  }
  expect(() => channel.reply).toThrow(ChannelFault);
});

test('any bytes end in a reply, in nothing, or in a fault', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
      const { channel } = open();
      try {
        for (const chunk of chunks) channel.write(chunk);
        expect(channel.reply).toBeUndefined();
      } catch (error) {
        expect(error).toBeInstanceOf(ChannelFault);
      }
    }),
  );
});
