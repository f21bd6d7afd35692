/**
 * Hostile examples of data that the host fetches for skills: responses, wheels and images.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { zipOf } from '../../scripts/fuzz/zip-writer.ts';
import { readArchive } from '../../src/cell/images/archive.ts';
import { Blobs } from '../../src/cell/images/blobs.ts';
import { parseConfig, parseManifest } from '../../src/cell/images/oci.ts';
import { repackWheel } from '../../src/cell/engines/python-wasm/pure-wheels.ts';
import { readBody, request, TestServer } from '../broker/gateway/http-server.ts';
import { tarOf, tempFile, tempFolder } from '../cell/images/helpers.ts';
import { INPUTS, type InputName } from './inputs.ts';

const OK = 'HTTP/1.1 200 OK\r\nconnection: close\r\n';
const capOf = (name: InputName): number => INPUTS[name].cap;

/** What a skill sees of such a response before it reads the body. */
async function answerTo(head: string): Promise<string> {
  await using server = await TestServer.startRaw((socket) => socket.end(head));
  using asked = server.broker();
  return await asked.code('http', request(server.authority));
}

/** Sends this many bytes, no faster than they are read. */
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
  'head of a server response': async (): Promise<void> => {
    const cap = capOf('head of a server response');
    const heads = [cap / 2, cap + 1].map((bytes) => `${OK}a: ${'x'.repeat(bytes)}\r\n\r\n`);
    expect(await Promise.all(heads.map(answerTo))).toEqual(['done', 'proto']);
    // An endless one is cut off at the same point.
    expect(await answerTo(`${OK}${'a'.repeat(64 * cap)}`)).toBe('proto');
  },
  'headers of a server response': async (): Promise<void> => {
    // One header belongs to the connection.
    const most = capOf('headers of a server response') - 1;
    const heads = [most, most + 1].map((count) => `${OK}${'a: b\r\n'.repeat(count)}\r\n`);
    expect(await Promise.all(heads.map(answerTo))).toEqual(['done', 'proto']);
  },
  'body of a server response': async (): Promise<void> => {
    const cap = capOf('body of a server response');
    await expect(bodyOf(cap + 1)).rejects.toMatchObject({ code: 'toobig' });
    expect(await bodyOf(1024 * 1024)).toBe(1024 * 1024);
  },
};

const CONFIG = '{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[';
/** Consists of many small values, which cost the most; at most `bytes` long. */
const filled = (start: string, part: string, bytes: number): string =>
  start + part.repeat(Math.floor((bytes - start.length - 10) / part.length));
const archiveOf = (list: string): Promise<unknown> =>
  readArchive(tempFile(tarOf([{ name: 'manifest.json', text: list }])), new Blobs(tempFolder()));

export const imageExamples = {
  'config and manifest of an image': async (): Promise<void> => {
    const cap = capOf('config and manifest of an image');
    const words = `is larger than ${cap} bytes`;
    expect(() => parseConfig(Buffer.alloc(cap + 1, ' '))).toThrow(words);
    expect(() => parseManifest(Buffer.alloc(cap + 1, ' '))).toThrow(words);
    await expect(archiveOf(' '.repeat(cap + 1))).rejects.toThrow('too large');
    // Every image of the list is wrong, and only the first is examined.
    await expect(archiveOf(`${filled('[', '{},', cap)}{}]`)).rejects.toThrow('no valid list of images');
  },
  'layers of an image': async (): Promise<void> => {
    const bytes = capOf('config and manifest of an image');
    const words = `more than ${capOf('layers of an image')}`;
    expect(() => parseConfig(Buffer.from(`${filled(CONFIG, '1,', bytes)}1]}}`))).toThrow(words);
    const manifest = `${filled('{"schemaVersion":2,"layers":[', '{},', bytes)}{}]}`;
    expect(() => parseManifest(Buffer.from(manifest))).toThrow(words);
    await expect(archiveOf(`${filled('[{"Layers":[', '1,', bytes)}1]}]`)).rejects.toThrow(words);
  },
};

async function repack(files: Record<string, string | Buffer>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-test-'));
  try {
    const wheel = join(folder, 'demo-1.0-cp311-cp311-linux_x86_64.whl');
    writeFileSync(wheel, zipOf(files, true));
    mkdirSync(join(folder, 'made'));
    await repackWheel('/usr/bin/python3', wheel, join(folder, 'made'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export const wheelExamples = {
  'files of a wheel': async (): Promise<void> => {
    const part = Buffer.alloc(capOf('files of a wheel') / 8 + 1);
    const files = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`demo/part${n}.py`, part]));
    await expect(repack(files)).rejects.toThrow('the files have more than');
  },
  'names in a wheel': async (): Promise<void> => {
    const names = Array.from({ length: capOf('names in a wheel') + 1 }, (_, n) => [`demo/f${n}.py`, '']);
    await expect(repack(Object.fromEntries(names) as Record<string, string>)).rejects.toThrow(
      'it has more than',
    );
  },
};
