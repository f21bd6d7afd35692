/**
 * The cell's end of the frame protocol: u32 little-endian length, then one UTF-8 JSON object. Reads and writes are
 * synchronous: a cell has nothing else to do while it waits, and a reply has been sent when the function returns.
 *
 * @module
 */
import { readSync, writeSync } from 'node:fs';
import type { FrameOf, SingleUseFrames } from '../protocol.ts';

const CHANNEL_FD = 3;
const HEADER_BYTES = 4;
const CHUNK_BYTES = 1024 * 1024;

/** The host has closed the channel. */
export class Closed extends Error {}

/** Saved before skill code runs: a skill that replaces them must not break its own denials. */
const { parse, stringify } = JSON;
const read = readSync;
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

function writeAll(bytes: Buffer): void {
  for (let sent = 0; sent < bytes.length;) sent += write(CHANNEL_FD, bytes, sent);
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
