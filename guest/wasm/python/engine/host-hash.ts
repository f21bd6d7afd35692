/**
 * Lets the host compute SHA-2 and SHA-1 of what is hashed at once, because WebAssembly has no instructions for it. An update
 * of an empty state only keeps a copy of the data, in place of the state's buffer. If a digest comes next, the host computes
 * it from the copy. Anything else first hashes the copy with CPython's own functions, which stay as they are, and goes on
 * with them. So the host holds nothing between two calls of it, and an image of the memory contains all states.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { MODULE_HEADER } from '../../binary/core-module.ts';
import { Reader } from '../../binary/reader.ts';
import { Writer } from '../../install/writer.ts';
import { unsigned } from './encode.ts';
import {
  ADDED_FUNCTIONS,
  FAMILIES,
  hashesKept,
  replacements,
  type Indices,
  type Known,
  type Replacement,
} from './hash-functions.ts';
import { HASH_TABLE_INDEX, HASH_TYPE } from './hash-table.ts';

const SECTION = { types: 1, imports: 2, functions: 3, tables: 4, exports: 7, code: 10 } as const;
const MAX_NAME_BYTES = 4096;
const I32 = 0x7f;
const FUNC_TYPE = 0x60;
const FUNC_REF = 0x70;

/** Replaces the functions of all families. Their old bodies become functions at the end, which the new ones call. */
export function withHostHash(bytes: Uint8Array): Uint8Array {
  const module = readParts(bytes);
  const indices: Indices = {
    ...module.exports,
    hashType: module.types,
    addressType: module.types + 1,
    added: module.imported + module.functions.length,
  };
  const out = new Writer(bytes.length + 64 * 1024);
  out.bytes(MODULE_HEADER);
  for (const { id, start, end } of module.sections) {
    const section = new Reader(bytes, start, end);
    const content = REWRITERS[id]?.(section, module, indices) ?? bytes.subarray(start, end);
    out.byte(id);
    out.u32(content.length);
    out.bytes(content);
  }
  return out.view.slice();
}

interface Parts {
  sections: { id: number; start: number; end: number }[];
  types: number;
  imported: number;
  /** The type of each function that the module defines. */
  functions: number[];
  exports: Pick<Indices, 'malloc' | 'free'>;
}

function readParts(bytes: Uint8Array): Parts {
  const reader = new Reader(bytes, MODULE_HEADER.length);
  const found: Parts = {
    sections: [],
    types: 0,
    imported: 0,
    functions: [],
    exports: { malloc: 0, free: 0 },
  };
  while (!reader.done) {
    const id = reader.byte();
    const section = reader.window(reader.u32());
    found.sections.push({ id, start: section.position, end: section.end });
    if (id === SECTION.types) found.types = section.u32();
    else if (id === SECTION.imports) found.imported = importedFunctions(section);
    else if (id === SECTION.functions)
      found.functions = Array.from({ length: section.u32() }, () => section.u32());
    else if (id === SECTION.exports) readExports(section, found.exports);
  }
  return found;
}

function importedFunctions(section: Reader): number {
  let found = 0;
  for (let left = section.u32(); left > 0; left--) {
    section.name(MAX_NAME_BYTES);
    section.name(MAX_NAME_BYTES);
    const kind = section.byte();
    if (kind === 0) {
      section.u32();
      found++;
    } else if (kind === 3) section.skip(2);
    else section.fail('Only functions and globals are expected as imports');
  }
  return found;
}

function readExports(section: Reader, into: Parts['exports']): void {
  for (let left = section.u32(); left > 0; left--) {
    const name = section.name(MAX_NAME_BYTES);
    section.byte();
    const index = section.u32();
    if (name === 'malloc' || name === 'free') into[name] = index;
  }
}

type Rewriter = (section: Reader, module: Parts, indices: Indices) => Uint8Array;

const REWRITERS: Readonly<Record<number, Rewriter>> = {
  [SECTION.types]: (section) => withMore(section, [HASH_TYPE, [FUNC_TYPE, 1, I32, 0]]),
  [SECTION.functions]: (section, module, { addressType }) => {
    const typeOf = ({ index }: Known): number =>
      module.functions[index - module.imported] ?? section.fail('The engine has too few functions');
    const added = FAMILIES.flatMap(({ update, digest, copy }) => [
      ...[update, digest, copy].map(typeOf),
      addressType,
    ]);
    return withMore(section, added.map(unsigned));
  },
  [SECTION.tables]: (section) => {
    if (section.peek() !== HASH_TABLE_INDEX) section.fail('The engine has an unexpected number of tables');
    return withMore(section, [[FUNC_REF, 1, 1, 1]]);
  },
  [SECTION.code]: withBodies,
};

/** Appends entries to a section. */
function withMore(section: Reader, entries: readonly (readonly number[])[]): Uint8Array {
  const out = new Writer(section.end - section.position + 256);
  out.u32(section.u32() + entries.length);
  out.bytes(section.bytes.subarray(section.position, section.end));
  for (const entry of entries) out.bytes(entry);
  return out.view;
}

function withBodies(section: Reader, { imported }: Parts, indices: Indices): Uint8Array {
  const out = new Writer(section.end - section.position + 64 * 1024);
  const replaced = new Map<number, Replacement>();
  for (const [at, family] of FAMILIES.entries())
    for (const one of replacements(family, { ...indices, added: indices.added + ADDED_FUNCTIONS * at }))
      replaced.set(one.known.index - imported, one);
  const old = new Map<Known, Uint8Array>();
  const count = section.u32();
  out.u32(count + ADDED_FUNCTIONS * FAMILIES.length);
  for (let at = 0; at < count; at++) {
    const body = section.window(section.u32());
    const content = section.bytes.subarray(body.position, body.end);
    const replacement = replaced.get(at);
    if (replacement) old.set(replacement.known, checked(content, replacement.known));
    emit(out, replacement?.body ?? content);
  }
  for (const [at, { update, digest, copy }] of FAMILIES.entries()) {
    for (const known of [update, digest, copy]) emit(out, old.get(known) ?? []);
    emit(out, hashesKept({ ...indices, added: indices.added + ADDED_FUNCTIONS * at }));
  }
  return out.view;
}

function checked(body: Uint8Array, { index, sha256 }: Known): Uint8Array {
  const found = createHash('sha256').update(body).digest('hex');
  if (found !== sha256) throw new Error(`Function ${index} of the engine has an unexpected digest: ${found}`);
  return body;
}

function emit(out: Writer, body: Uint8Array | readonly number[]): void {
  out.u32(body.length);
  out.bytes(body);
}
