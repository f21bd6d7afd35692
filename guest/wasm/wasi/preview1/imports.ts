/**
 * The import module `wasi_snapshot_preview1`, created once per process.
 *
 * @module
 */
import { GuestEnd } from '../../contract.ts';
import { trap } from '../check.ts';
import { errnoOf } from '../codes.ts';
import { descriptorCalls } from './descriptor-calls.ts';
import { directoryCalls } from './directory-calls.ts';
import { pathCalls } from './path-calls.ts';
import type { Preview1Process, Preview1Slot, SystemCall, SystemCalls } from './process.ts';
import { systemCalls } from './system-calls.ts';

type ImportFunction = (...args: unknown[]) => number | Promise<number>;

/** Converts an import that may return a promise for Wasm: `(call) => new WebAssembly.Suspending(call)`. */
export type Suspend = (call: ImportFunction) => unknown;

export type Preview1Imports = Record<string, unknown>;

export function createPreview1(slot: Preview1Slot, suspend: Suspend): Preview1Imports {
  const calls: SystemCalls = { ...systemCalls(), ...descriptorCalls(), ...directoryCalls(), ...pathCalls() };
  const imports: Preview1Imports = {};
  for (const [name, call] of Object.entries(calls)) {
    const entry = enter(slot, call);
    imports[name] = call.suspends === true ? suspend(entry) : entry;
  }
  return imports;
}

/** Converts the result of a call to an errno. Exceptions that end the guest pass through. */
function enter(slot: Preview1Slot, call: SystemCall): ImportFunction {
  return (...args) => {
    const process = slot.current ?? trap('A system call was made before the memory was known');
    if (process.call.guestEnd !== undefined) throw process.call.guestEnd;
    try {
      const waiting = call.run(process, args);
      return waiting === undefined
        ? 0
        : waiting.then(
            () => 0,
            (error: unknown) => failed(process, error),
          );
    } catch (error) {
      return failed(process, error);
    }
  };
}

function failed({ call }: Preview1Process, error: unknown): number {
  if (error instanceof GuestEnd) call.guestEnd ??= error;
  return errnoOf(error);
}
