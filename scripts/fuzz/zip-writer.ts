/**
 * Small zip files for tests and fuzzing, with optionally false sizes.
 *
 * @module
 */
import { crc32, deflateRawSync } from 'node:zlib';

const LOCAL = 0x04_03_4b_50;
const CENTRAL = 0x02_01_4b_50;
const END = 0x06_05_4b_50;
const DEFLATED = 8;

export function zipOf(files: Readonly<Record<string, string | Buffer>>, isPacked: boolean): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [path, content] of Object.entries(files)) {
    const name = Buffer.from(path);
    const data = Buffer.from(content);
    const stored = isPacked ? deflateRawSync(data) : data;
    const facts = factsOf(data, { stored: stored.length, name: name.length, isPacked });
    const local = Buffer.concat([number(LOCAL, 4), number(20, 2), facts, name, stored]);
    const rest = Buffer.concat([Buffer.alloc(10), number(at, 4)]);
    directory.push(Buffer.concat([number(CENTRAL, 4), number(20, 2), number(20, 2), facts, rest, name]));
    bodies.push(local);
    at += local.length;
  }
  const central = Buffer.concat(directory);
  const count = number(directory.length, 2);
  const end = [number(END, 4), Buffer.alloc(4), count, count, number(central.length, 4), number(at, 4)];
  return Buffer.concat([...bodies, central, ...end, Buffer.alloc(2)]);
}

interface EntryFacts {
  stored: number;
  name: number;
  isPacked: boolean;
}

/** From the flags to the length of the extra field: the same in both headers. */
function factsOf(data: Buffer, { stored, name, isPacked }: EntryFacts): Buffer {
  return Buffer.concat([
    number(0, 2),
    number(isPacked ? DEFLATED : 0, 2),
    Buffer.alloc(4),
    number(crc32(data), 4),
    number(stored, 4),
    number(data.length, 4),
    number(name, 2),
    number(0, 2),
  ]);
}

function number(value: number, bytes: 2 | 4): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
}
