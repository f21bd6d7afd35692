/**
 * Compiles the modules of a cell. The engine keeps its own copy of the bytes, and a process that waits for calls need not
 * keep ours until the next garbage collection.
 *
 * @module
 */
import { readFileSync } from 'node:fs';

export function compileFile(path: string): WebAssembly.Module {
  const bytes = readFileSync(path);
  const module = new WebAssembly.Module(bytes);
  // Small files are read into a buffer that others use, too.
  if (bytes.buffer.byteLength === bytes.length) bytes.buffer.transfer(0);
  return module;
}
