/**
 * C++ libraries import functions that they export themselves, so that another library could replace them. An instance
 * cannot import from itself, so these small functions stand in and call the real ones through the table.
 *
 * @module
 */
import { MODULE_HEADER } from '../../binary/core-module.ts';
import { Writer } from '../../install/writer.ts';

/** A function that a library imports from itself. */
export interface OwnFunction {
  name: string;
  slot: number;
  /** Encoded types. */
  params: number[];
  results: number[];
}

/** A module that imports the table as `env.table` and exports one function for each. */
export function thunkModule(functions: readonly OwnFunction[]): Uint8Array {
  const writer = new Writer();
  writer.bytes(MODULE_HEADER);
  const section = (id: number, count: number, fill: (out: Writer) => void): void => {
    const body = new Writer();
    body.u32(count);
    fill(body);
    writer.byte(id);
    writer.u32(body.length);
    writer.bytes(body.view);
  };
  const forEach = (id: number, write: (out: Writer, one: OwnFunction, index: number) => void): void =>
    section(id, functions.length, (out) => {
      for (const [index, one] of functions.entries()) write(out, one, index);
    });
  forEach(1, writeType);
  section(2, 1, writeTableImport);
  forEach(3, (out, _, index) => out.u32(index));
  forEach(7, writeExport);
  forEach(10, writeCode);
  return writer.view.slice();
}

function writeType(out: Writer, { params, results }: OwnFunction): void {
  out.byte(0x60);
  for (const types of [params, results]) {
    out.u32(types.length);
    out.bytes(types);
  }
}

function writeTableImport(out: Writer): void {
  out.name('env');
  out.name('table');
  out.bytes([1, 0x70, 0, 1]);
}

function writeExport(out: Writer, { name }: OwnFunction, index: number): void {
  out.name(name);
  out.byte(0);
  out.u32(index);
}

function writeCode(out: Writer, { params, slot }: OwnFunction, index: number): void {
  const body = new Writer();
  // No locals; every parameter; the slot; call_indirect.
  body.byte(0);
  for (const at of params.keys()) {
    body.byte(0x20);
    body.u32(at);
  }
  body.byte(0x41);
  body.signed(slot);
  body.byte(0x11);
  body.u32(index);
  body.bytes([0, 0x0b]);
  out.u32(body.length);
  out.bytes(body.view);
}
