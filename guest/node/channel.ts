/**
 * The cell's end of the frame protocol: u32 little-endian length, then one UTF-8 JSON object. Reads and writes are
 * synchronous: a cell has nothing else to do while it waits, and a reply has been sent when the function returns.
 *
 * @module
 */
import { read as readLater, readSync, writeSync } from 'node:fs';
import type { FrameOf, ReplyFields, SingleUseFrames } from '../protocol.ts';

const CHANNEL_FD = 3;
const HEADER_BYTES = 4;
const CHUNK_BYTES = 1024 * 1024;

/** The host has closed the channel. */
export class Closed extends Error {}

/** Saved before skill code runs: a skill that replaces them must not break its own denials. */
const { parse, stringify } = JSON;
const read = readSync;
const readAsync = readLater;
const write = writeSync;
const bytesOf = Buffer.from.bind(Buffer) as (text: string) => Buffer;
const room = Buffer.allocUnsafe.bind(Buffer);
/** Exits without running `exit` handlers. */
const { reallyExit } = process as unknown as { reallyExit: (code: number) => never };

/** `value` is JSON text that is sent as is. */
export function send(frame: FrameOf<SingleUseFrames>, value?: string): void {
  const text = stringify(frame);
  const body = bytesOf(value === undefined ? text : `${text.slice(0, -1)},"value":${value}}`);
  const header = room(HEADER_BYTES);
  header.writeUInt32LE(body.length, 0);
  writeAll(header);
  writeAll(body);
}

/** Waits for one frame from the host. */
export function receive(): unknown {
  const size = readExactly(HEADER_BYTES).readUInt32LE(0);
  return parse(readExactly(size).toString('utf8')) as unknown;
}

/** Sends a frame with raw bytes behind it. */
export function sendWith(frame: FrameOf<SingleUseFrames>, payload: Uint8Array): void {
  const body = bytesOf(stringify({ ...frame, payload_bytes: payload.length }));
  const header = room(HEADER_BYTES);
  header.writeUInt32LE(body.length, 0);
  writeAll(header);
  writeAll(body);
  writeAll(payload);
}

export interface Answer {
  frame: ReplyFields;
  payload: Buffer;
}

/** The next answer to a request. Reads in a thread of Node's own, so that the skill goes on meanwhile. */
export async function receiveAnswer(): Promise<Answer> {
  const size = (await readLaterExactly(HEADER_BYTES)).readUInt32LE(0);
  const frame = parse((await readLaterExactly(size)).toString('utf8')) as ReplyFields & {
    payload_bytes?: number;
  };
  return { frame, payload: await readLaterExactly(frame.payload_bytes ?? 0) };
}

/** Waits for the host to kill the cell. Exiting first would race with it, and nothing may run after the reply. */
export function waitForTheEnd(): never {
  const rest = room(HEADER_BYTES);
  try {
    while (read(CHANNEL_FD, rest) > 0);
  } catch {
    // The skill closed the channel.
  }
  return reallyExit(0);
}

function writeAll(bytes: Uint8Array): void {
  for (let sent = 0; sent < bytes.length;) sent += write(CHANNEL_FD, bytes, sent);
}

async function readLaterExactly(size: number): Promise<Buffer> {
  const bytes = room(size);
  for (let held = 0; held < size;) {
    const count = await readSome(bytes, held);
    if (count === 0) throw new Closed();
    held += count;
  }
  return bytes;
}

function readSome(bytes: Buffer, held: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = Math.min(bytes.length - held, CHUNK_BYTES);
    readAsync(CHANNEL_FD, bytes, held, length, null, (error, count) =>
      error ? reject(error) : resolve(count),
    );
  });
}

function readExactly(size: number): Buffer {
  const bytes = room(size);
  for (let held = 0; held < size;) {
    const count = read(CHANNEL_FD, bytes, held, Math.min(size - held, CHUNK_BYTES), null);
    if (count === 0) throw new Closed();
    held += count;
  }
  return bytes;
}
