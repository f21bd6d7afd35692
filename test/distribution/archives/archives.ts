/** Archives for tests: valid ones and ones that no honest program makes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { removeTree } from '../../../src/load/remove-tree.ts';

export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-test-')));
  onTestFinished(() => removeTree(folder));
  return folder;
}

export type Files = Readonly<Record<string, string | Buffer>>;

export function writeFiles(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** Runs a program of the system in a folder with these files. */
export function withFiles(files: Files, program: string, args: readonly string[]): string {
  const folder = tempFolder();
  writeFiles(folder, files);
  execFileSync(program, args, { cwd: folder, stdio: 'pipe' });
  return folder;
}

/** What one entry of a zip file says in its two headers, where it differs from the truth. */
export interface ZipEntry {
  name: string | Buffer;
  content?: string | Buffer;
  flags?: number;
  method?: number;
  attributes?: number;
  crc?: number;
  size?: number;
  packedSize?: number;
  packed?: Buffer;
  /** Of the central directory only. */
  central?: {
    name?: string;
    crc?: number;
    size?: number;
    packedSize?: number;
    flags?: number;
    offset?: number;
  };
  extra?: Buffer;
  centralExtra?: Buffer;
  /** Follows the content. */
  descriptor?: Buffer;
}

export interface ZipLies {
  before?: Buffer;
  beforeDirectory?: Buffer;
  beforeEnd?: Buffer;
  after?: Buffer;
  comment?: Buffer;
  count?: number;
  directoryBytes?: number;
  /** Entries that stand in the file and not in the directory. */
  hidden?: readonly number[];
}

export function zipWith(entries: readonly ZipEntry[], lies: ZipLies = {}): Buffer {
  const bodies: Buffer[] = [lies.before ?? Buffer.alloc(0)];
  const directory: Buffer[] = [];
  let at = bodies[0]?.length ?? 0;
  for (const [index, entry] of entries.entries()) {
    const { local, central } = headersOf(entry, at);
    if (!lies.hidden?.includes(index)) directory.push(central);
    bodies.push(local);
    at += local.length;
  }
  const central = Buffer.concat(directory);
  const before = lies.beforeDirectory ?? Buffer.alloc(0);
  const count = lies.count ?? directory.length;
  const comment = lies.comment ?? Buffer.alloc(0);
  const end = fields([
    [0x06054b50, 4],
    [0, 4],
    [count, 2],
    [count, 2],
    [lies.directoryBytes ?? central.length, 4],
    [at + before.length, 4],
    [comment.length, 2],
  ]);
  const rest = [lies.beforeEnd ?? Buffer.alloc(0), end, comment, lies.after ?? Buffer.alloc(0)];
  return Buffer.concat([...bodies, before, central, ...rest]);
}

function headersOf(entry: ZipEntry, at: number): { local: Buffer; central: Buffer } {
  const content = Buffer.from(entry.content ?? '');
  const name = Buffer.from(entry.name);
  const method = entry.method ?? 8;
  const packed = entry.packed ?? (method === 8 ? deflateRawSync(content) : content);
  const facts = {
    name,
    method,
    flags: entry.flags ?? 0,
    crc: entry.crc ?? crc32(content),
    packedSize: entry.packedSize ?? packed.length,
    size: entry.size ?? content.length,
  };
  const extra = entry.extra ?? Buffer.alloc(0);
  const local = Buffer.concat([fields([[0x04034b50, 4]]), common(facts, extra), facts.name, extra, packed]);
  const { name: centralName, offset, ...changes } = entry.central ?? {};
  const said = { ...facts, ...changes, name: centralName === undefined ? name : Buffer.from(centralName) };
  const centralExtra = entry.centralExtra ?? Buffer.alloc(0);
  const central = Buffer.concat([
    fields([
      [0x02014b50, 4],
      [0x0314, 2],
    ]),
    common(said, centralExtra),
    fields([
      [0, 2],
      [0, 2],
      [0, 2],
      [entry.attributes ?? 0, 4],
      [offset ?? at, 4],
    ]),
    said.name,
    centralExtra,
  ]);
  return { local: Buffer.concat([local, entry.descriptor ?? Buffer.alloc(0)]), central };
}

interface Facts {
  name: Buffer;
  method: number;
  flags: number;
  crc: number;
  packedSize: number;
  size: number;
}

function common({ name, method, flags, crc, packedSize, size }: Facts, extra: Buffer): Buffer {
  return fields([
    [20, 2],
    [flags, 2],
    [method, 2],
    [0, 4],
    [crc, 4],
    [packedSize, 4],
    [size, 4],
    [name.length, 2],
    [extra.length, 2],
  ]);
}

/** Numbers with the least significant byte first. */
export function fields(values: readonly (readonly [value: number, bytes: number])[]): Buffer {
  return Buffer.concat(
    values.map(([value, bytes]) => {
      const buffer = Buffer.alloc(bytes);
      buffer.writeUIntLE(value, 0, bytes);
      return buffer;
    }),
  );
}
