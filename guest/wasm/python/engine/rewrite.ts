/**
 * Pyodide's module with another interface: it imports its memory, so that we set the bounds; of its 8,500 exports only
 * those that we call remain; its data is removed, because a process starts from an image. The code is unchanged here.
 *
 * @module
 */
import { MODULE_HEADER } from '../../binary/core-module.ts';
import { Reader } from '../../binary/reader.ts';
import { Writer } from '../../install/writer.ts';

const MAX_NAME_BYTES = 4096;
const MEMORY_IMPORT = { module: 'env', name: 'memory' };
const CUSTOM = 0;
const IMPORTS = 2;
const MEMORY = 5;
const EXPORTS = 7;
const DATA = 11;
const DATA_COUNT = 12;
const TABLE_KIND = 1;

export interface DataSegment {
  address: number;
  bytes: Uint8Array;
}

export interface Rewritten {
  module: Uint8Array;
  data: DataSegment[];
}

export interface RewriteOptions {
  minPages: number;
  maxPages: number;
  /** Names of the exports that remain; a missing one is an error. */
  keep: readonly string[];
  /** Tables that are also exported, by name. */
  tables: Readonly<Record<string, number>>;
}

export function rewriteModule(bytes: Uint8Array, options: RewriteOptions): Rewritten {
  const reader = new Reader(bytes, MODULE_HEADER.length);
  const out = new Writer(bytes.length);
  out.bytes(MODULE_HEADER);
  let data: DataSegment[] = [];
  while (!reader.done) {
    const id = reader.byte();
    const section = reader.window(reader.u32());
    if (id === CUSTOM || id === DATA_COUNT || id === MEMORY) continue;
    if (id === DATA) data = readData(section);
    else if (id === IMPORTS) emit(out, id, withMemoryImport(section, options));
    else if (id === EXPORTS) emit(out, id, onlyKept(section, options));
    else emit(out, id, bytes.subarray(section.position, section.end));
  }
  return { module: out.view.slice(), data };
}

function emit(out: Writer, id: number, body: Uint8Array): void {
  out.byte(id);
  out.u32(body.length);
  out.bytes(body);
}

function withMemoryImport(section: Reader, { minPages, maxPages }: RewriteOptions): Uint8Array {
  const out = new Writer(section.end - section.position + 64);
  out.u32(section.u32() + 1);
  out.bytes(section.bytes.subarray(section.position, section.end));
  out.name(MEMORY_IMPORT.module);
  out.name(MEMORY_IMPORT.name);
  out.bytes([2, 1]);
  out.u32(minPages);
  out.u32(maxPages);
  return out.view;
}

function onlyKept(section: Reader, { keep, tables }: RewriteOptions): Uint8Array {
  const wanted = new Set(keep);
  const kept: Uint8Array[] = [];
  for (let left = section.u32(); left > 0; left--) {
    const start = section.position;
    const name = section.name(MAX_NAME_BYTES);
    section.byte();
    section.u32();
    if (wanted.delete(name)) kept.push(section.bytes.subarray(start, section.position));
  }
  if (wanted.size > 0) section.fail(`The engine does not export ${[...wanted].join(', ')}`);
  const out = new Writer();
  out.u32(kept.length + Object.keys(tables).length);
  for (const entry of kept) out.bytes(entry);
  for (const [name, index] of Object.entries(tables)) {
    out.name(name);
    out.byte(TABLE_KIND);
    out.u32(index);
  }
  return out.view;
}

function readData(section: Reader): DataSegment[] {
  const segments: DataSegment[] = [];
  for (let left = section.u32(); left > 0; left--) {
    if (section.u32() !== 0 || section.byte() !== 0x41)
      section.fail('Only active data segments are expected');
    const address = section.signed(32) >>> 0;
    if (section.byte() !== 0x0b) section.fail('Only constant addresses are expected');
    const length = section.u32();
    section.skip(length);
    segments.push({ address, bytes: section.bytes.subarray(section.position - length, section.position) });
  }
  return segments;
}
