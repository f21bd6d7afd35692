/**
 * `wasi:clocks`. The monotonic clock has steps of 100 µs and starts with the call: it cannot time caches and does
 * not reveal the age of the cell. The wall clock has milliseconds.
 *
 * @module
 */
import type { HostInterfaces } from '../contract.ts';
import { CLOCK_STEP_NS, currentCall, type Slot } from './call.ts';
import { asU64 } from './check.ts';
import { Pollable, Timer } from './wait.ts';

const WALL_STEP_NS = 1_000_000;

export interface DateTime {
  seconds: bigint;
  nanoseconds: number;
}

export function clockInterfaces(slot: Slot): HostInterfaces {
  return {
    'wasi:clocks/monotonic-clock': {
      now: { call: () => currentCall(slot).monotonic() },
      resolution: { call: () => CLOCK_STEP_NS },
      'subscribe-instant': { call: (when) => new Pollable(new Timer(currentCall(slot), asU64(when))) },
      'subscribe-duration': {
        call: (duration) => {
          const call = currentCall(slot);
          return new Pollable(new Timer(call, call.monotonic() + asU64(duration)));
        },
      },
    },
    'wasi:clocks/wall-clock': {
      now: { call: () => wallTime(currentCall(slot).wallMilliseconds()) },
      resolution: { call: (): DateTime => ({ seconds: 0n, nanoseconds: WALL_STEP_NS }) },
    },
  };
}

function wallTime(milliseconds: number): DateTime {
  return { seconds: BigInt(Math.floor(milliseconds / 1000)), nanoseconds: (milliseconds % 1000) * 1_000_000 };
}
