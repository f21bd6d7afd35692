import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { NetworkRule } from '../../../src/manifest/manifest.ts';
import { readBody, request, TestServer } from './http-server.ts';
import { Asked, countDescriptors, grantOf } from '../support.ts';

const fine = (): Promise<TestServer> => TestServer.start((_, response) => response.end('fine'));

describe('a hostile or broken server', () => {
  it('cannot send more than the limit', async () => {
    await using server = await TestServer.start((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(1 << 20)));
      };
      response.on('drain', more);
      more();
    });
    using asked = server.broker();
    const { body } = await asked.value('http', request(server.authority));
    let received = 0;
    let code = 'done';
    while (code === 'done') {
      code = await asked.code('httpRead', { body, length: 1 << 30 });
      received++;
    }
    expect(code).toBe('toobig');
    expect(received).toBeGreaterThan(15);
    expect(await asked.code('httpRead', { body, length: 1 })).toBe('badf');
    await untilNone(server);
  });

  it('that closes in the middle of a response causes an error, not the end of the response', async () => {
    await using server = await TestServer.startRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', () => socket.destroy());
    });
    using asked = server.broker();
    const { body } = await asked.value('http', request(server.authority));
    const text: string[] = [];
    let code = 'done';
    while (code === 'done') {
      try {
        text.push(
          Buffer.from((await asked.reply('httpRead', { body, length: 10 })).payload ?? []).toString(),
        );
        expect(text.at(-1)).not.toBe('');
      } catch (error) {
        code = (error as { code: string }).code;
      }
    }
    expect([text.join(''), code]).toEqual(['half', 'incomplete']);
    await sleep(20);
    expect(await asked.code('httpRead', { body, length: 10 })).toBe('incomplete');
  });

  it.each([
    ['nothing', '', /connreset|proto/],
    ['something other than HTTP', 'hello\r\n\r\n', /proto/],
    [
      'a switch of protocols',
      'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      /proto|connreset/,
    ],
    ['endless headers', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(9000)}`, /proto/],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', /proto/],
  ])('that answers with %s causes an error', async (_, bytes, code) => {
    await using server = await TestServer.startRaw((socket) => socket.end(bytes));
    using asked = server.broker();
    expect(await asked.code('http', request(server.authority))).toMatch(code);
  });

  it('that is slower than the guest wants to wait causes a timeout in each phase of a request', async () => {
    // Longer than the test's deadline, so that only the guest's timeout can end the wait.
    const patient = { timeoutMs: 600_000 };
    await using silent = await TestServer.startRaw(() => undefined);
    using secure = silent.broker({ scheme: 'https' }, patient);
    const handshake = { scheme: 'https', connectTimeout: 50 };
    expect(await secure.code('http', request(silent.authority, handshake))).toBe('timedout');
    using asked = silent.broker({}, patient);
    const firstByte = { connectTimeout: 60_000, firstByteTimeout: 50 };
    expect(await asked.code('http', request(silent.authority, firstByte))).toBe('readtimeout');
    await using stopping = await TestServer.startRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf');
    });
    using halted = stopping.broker({}, patient);
    const { body } = await halted.value('http', request(stopping.authority, { betweenBytesTimeout: 50 }));
    expect((await halted.reply('httpRead', { body, length: 10 })).payload?.length).toBe(4);
    expect(await halted.code('httpRead', { body, length: 10 })).toBe('readtimeout');
    expect(await halted.code('httpRead', { body, length: 10 })).toBe('incomplete');
    await untilNone(silent);
    await untilNone(stopping);
  });

  it('cannot take longer than the broker allows, whatever the guest asks for', async () => {
    await using silent = await TestServer.startRaw(() => undefined);
    using asked = silent.broker({}, { timeoutMs: 100 });
    const long = { connectTimeout: 1e12, firstByteTimeout: 1e12, betweenBytesTimeout: 1e12 };
    expect(await asked.code('http', request(silent.authority, long))).toBe('timedout');
    for (const wrong of [-1, '50', null, Number.NaN])
      expect(await asked.code('http', request(silent.authority, { firstByteTimeout: wrong }))).toBe('inval');
  });

  it('that never answers or stops in the middle causes a timeout', async () => {
    await using silent = await TestServer.startRaw(() => undefined);
    using asked = silent.broker({}, { timeoutMs: 100 });
    expect(await asked.code('http', request(silent.authority))).toBe('timedout');
    await using stopping = await TestServer.startRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf');
    });
    using halted = stopping.broker({}, { timeoutMs: 100 });
    const { body } = await halted.value('http', request(stopping.authority));
    expect((await halted.reply('httpRead', { body, length: 10 })).payload?.length).toBe(4);
    expect(await halted.code('httpRead', { body, length: 10 })).toBe('incomplete');
    await untilNone(silent);
    await untilNone(stopping);
  });

  it('that cannot be reached causes an error', async () => {
    const server = await fine();
    using asked = server.broker();
    const { authority } = server;
    await server[Symbol.asyncDispose]();
    expect(await asked.code('http', request(authority))).toBe('connrefused');
  });

  it('without a trusted certificate or without TLS is refused', async () => {
    await using server = await fine();
    using asked = server.broker({ scheme: 'https' });
    expect(await asked.code('http', request(server.authority, { scheme: 'https' }))).toBe('tls');
    expect(server.seen).toEqual([]);
  });
});

describe('the HTTP broker', () => {
  it('serves a limited number of requests at once', async () => {
    await using server = await fine();
    using asked = server.broker();
    const codes = await Promise.all(
      Array.from({ length: 50 }, () => asked.code('http', request(server.authority))),
    );
    expect(codes.filter((code) => code === 'done')).toHaveLength(32);
    expect(codes.filter((code) => code === 'mfile')).toHaveLength(18);
    for (let body = 0; body < 32; body++) await asked.value('httpClose', { body });
    for (let round = 0; round < 100; round++) {
      const { body } = await asked.value('http', request(server.authority));
      expect((await readBody(asked, body)).toString()).toBe('fine');
      await asked.value('httpClose', { body });
    }
    expect(await asked.code('httpClose', { body: 5 })).toBe('done');
  });

  it('closes everything at the end of the call: running requests, open connections and lookups', async () => {
    await using slow = await TestServer.startRaw(() => undefined);
    await using open = await TestServer.start((_, response) => void response.write('x'));
    const before = countDescriptors();
    const underWay = slow.broker();
    const waiting = underWay.code('http', request(slow.authority));
    const reading = open.broker();
    const { body } = await reading.value('http', request(open.authority));
    await reading.reply('httpRead', { body, length: 1 });
    const more = reading.code('httpRead', { body, length: 1 });
    const { promise, resolve } = Promise.withResolvers<string[]>();
    const named: NetworkRule[] = [{ host: 'name.test', port: open.port, scheme: 'http' }];
    const resolving = new Asked(grantOf({ network: named }), '/', { lookup: () => promise });
    const resolved = resolving.code('http', request(`name.test:${open.port}`));
    while (slow.sockets.size === 0) await sleep(5);
    await sleep(20);
    for (const asked of [underWay, reading, resolving]) asked.broker.close();
    resolve(['8.8.8.8']);
    expect([await waiting, await more, await resolved]).toEqual(['badf', 'incomplete', 'badf']);
    await untilNone(slow);
    await untilNone(open);
    expect(countDescriptors()).toBeLessThanOrEqual(before);
  });
});

async function untilNone(server: TestServer): Promise<void> {
  for (const socket of server.sockets) {
    if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve));
  }
  expect(server.sockets.size).toBe(0);
}
