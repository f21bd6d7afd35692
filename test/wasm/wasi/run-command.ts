/**
 * Runs a preview1 command the way a cell does: fresh instance, suspended while the broker works.
 *
 * @module
 */
import { readFileSync } from 'node:fs';

import { GuestEnd } from '../../../guest/wasm/contract.ts';
import type { HostOptions } from '../../../guest/wasm/wasi/call.ts';
import { createWasi } from '../../../guest/wasm/wasi/host.ts';

export interface Run {
  stdout: string;
  stderr: string;
  /** `exit 0`, `limit output`, … */
  end: string;
}

export async function runCommand(path: string, options: HostOptions): Promise<Run> {
  const wasi = createWasi();
  const run: Run = { stdout: '', stderr: '', end: 'exit 0' };
  const onOutput = (stream: 'stdout' | 'stderr', bytes: Uint8Array): void => {
    run[stream] += Buffer.from(bytes).toString();
  };
  const host = wasi.createHost({ onOutput, ...options });
  const imports = wasi.preview1((call) => new WebAssembly.Suspending(call));
  const module = new WebAssembly.Module(readFileSync(path));
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: imports });
  host.setMemory(instance.exports['memory']);
  try {
    await WebAssembly.promising(instance.exports['_start'] as CallableFunction)();
  } catch (error) {
    if (!(error instanceof GuestEnd)) throw error;
    run.end = `${error.kind} ${error.detail}`;
  } finally {
    host.finish();
  }
  return run;
}
