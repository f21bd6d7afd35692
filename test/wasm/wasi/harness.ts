/**
 * Calls host functions as a linker would, with values that are already lifted.
 *
 * @module
 */
import { GuestEnd } from '../../../guest/wasm/contract.ts';
import type { HostOptions } from '../../../guest/wasm/wasi/call.ts';
import { createWasi, type Wasi, type WasiHost } from '../../../guest/wasm/wasi/host.ts';
import { MemoryBroker } from './memory-broker.ts';

export interface Harness {
  wasi: Wasi;
  host: WasiHost;
  broker: MemoryBroker;
  logs: string[];
  denied: string[];
  output: (stream: 'stdout' | 'stderr') => string;
  /** `use('io/poll', 'poll', …)`: the namespace `wasi:` is added unless there is another. */
  use: (interfaceName: string, name: string, ...args: unknown[]) => unknown;
}

export function harness(options: Partial<HostOptions> = {}): Harness {
  const wasi = createWasi();
  const broker = new MemoryBroker();
  const written = { stdout: '', stderr: '' };
  const logs: string[] = [];
  const denied: string[] = [];
  const host = wasi.createHost({
    broker,
    preopens: [broker.preopen()],
    onLog: (level, message) => logs.push(`${level}: ${message}`),
    onOutput: (stream, bytes) => {
      written[stream] += Buffer.from(bytes).toString();
    },
    onDenied: (capability, asked) => denied.push(`${capability}: ${asked}`),
    ...options,
  });
  const use = (interfaceName: string, name: string, ...args: unknown[]): unknown => {
    const full = interfaceName.includes(':') ? interfaceName : `wasi:${interfaceName}`;
    const found = wasi.interfaces[full]?.[name];
    if (found === undefined) throw new Error(`There is no ${full} ${name}`);
    const result = found.call(...args);
    if (result instanceof Promise && found.suspends !== true) throw new Error(`${name} returned a promise`);
    return result;
  };
  return { wasi, host, broker, logs, denied, use, output: (stream) => written[stream] };
}

/** How a call ended its guest. */
export async function ending(work: () => unknown): Promise<{ kind: string; detail: string }> {
  try {
    await work();
  } catch (error) {
    if (error instanceof GuestEnd) return { kind: error.kind, detail: error.detail };
    throw error;
  }
  throw new Error('The guest was not ended');
}

export function ok(result: unknown): unknown {
  if (typeof result !== 'object' || result === null || !('ok' in result)) {
    throw new Error(`Not ok: ${JSON.stringify(result)}`);
  }
  return result.ok;
}

export function text(bytes: unknown): string {
  return Buffer.from(bytes as Uint8Array).toString();
}
