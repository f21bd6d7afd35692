/**
 * Hostile examples of what a host fetches for skills: answers of servers, wheels and images.
 *
 * @module
 */
import type { Socket } from 'node:net';
import { expect } from 'vitest';
import { readBody, request, TestServer } from '../broker/gateway/http-server.ts';
import { INPUTS, type InputName } from './inputs.ts';

const OK = 'HTTP/1.1 200 OK\r\nconnection: close\r\n';
const capOf = (name: InputName): number => INPUTS[name].cap;

/** What a skill is told of a server that answers so, before it reads a body. */
async function toldOf(head: string): Promise<string> {
  await using server = await TestServer.startRaw((socket) => socket.end(head));
  using asked = server.broker();
  return await asked.code('http', request(server.authority));
}

/** Sends until it has sent so much, no faster than somebody reads. */
function sendBody(socket: Socket, bytes: number): void {
  const part = Buffer.alloc(64 * 1024, 'x');
  let left = bytes;
  const more = (): void => {
    while (left > 0 && !socket.destroyed) {
      const now = part.subarray(0, left);
      left -= now.length;
      if (!socket.write(now)) return;
    }
    socket.end();
  };
  socket.on('drain', more);
  socket.write(`${OK}\r\n`);
  more();
}

async function bodyOf(bytes: number): Promise<number> {
  await using server = await TestServer.startRaw((socket) => sendBody(socket, bytes));
  using asked = server.broker();
  const { body } = await asked.value('http', request(server.authority));
  return (await readBody(asked, body)).length;
}

export const serverExamples = {
  'head of an answer of a server': async (): Promise<void> => {
    const cap = capOf('head of an answer of a server');
    const heads = [cap / 2, cap + 1].map((bytes) => `${OK}a: ${'x'.repeat(bytes)}\r\n\r\n`);
    expect(await Promise.all(heads.map(toldOf))).toEqual(['done', 'proto']);
    // Sent without an end, it is over as early.
    expect(await toldOf(`${OK}${'a'.repeat(64 * cap)}`)).toBe('proto');
  },
  'headers of an answer of a server': async (): Promise<void> => {
    // One header is that of the connection.
    const most = capOf('headers of an answer of a server') - 1;
    const heads = [most, most + 1].map((count) => `${OK}${'a: b\r\n'.repeat(count)}\r\n`);
    expect(await Promise.all(heads.map(toldOf))).toEqual(['done', 'proto']);
  },
  'body of an answer of a server': async (): Promise<void> => {
    const cap = capOf('body of an answer of a server');
    await expect(bodyOf(cap + 1)).rejects.toMatchObject({ code: 'toobig' });
    expect(await bodyOf(1024 * 1024)).toBe(1024 * 1024);
  },
};
