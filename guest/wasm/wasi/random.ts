/**
 * `wasi:random`. The insecure numbers are as good as the others; guests must not rely on that.
 *
 * @module
 */
import type { HostFunction, HostInterfaces } from '../contract.ts';
import { currentCall, type Slot } from './call.ts';
import { asCount } from './check.ts';

export function randomInterfaces(slot: Slot): HostInterfaces {
  const bytes: HostFunction = { call: (length) => currentCall(slot).random(asCount(length)) };
  const number: HostFunction = { call: () => randomU64(slot) };
  return {
    'wasi:random/random': { 'get-random-bytes': bytes, 'get-random-u64': number },
    'wasi:random/insecure': { 'get-insecure-random-bytes': bytes, 'get-insecure-random-u64': number },
    'wasi:random/insecure-seed': { 'insecure-seed': { call: () => [randomU64(slot), randomU64(slot)] } },
  };
}

function randomU64(slot: Slot): bigint {
  const bytes = currentCall(slot).random(8);
  return new DataView(bytes.buffer).getBigUint64(0);
}
