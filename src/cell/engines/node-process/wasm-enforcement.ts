/**
 * What enforces each field in a Wasm cell, for every engine: WebAssembly has no system calls, and the broker decides on
 * everything else.
 *
 * @module
 */
import type { Enforcement, EnforcementTable } from '../../../policy/enforcement.ts';

export const wasm = (how: string): Enforcement => ({ by: 'wasm', how });
export const broker = (how: string): Enforcement => ({ by: 'broker', how });
export const nobody = (how: string): Enforcement => ({ by: 'nobody', how });

const IN_ANY_WASM = {
  filesystem: broker('every path is resolved from a handle of the granted directory; links are not followed'),
  'filesystem.max_bytes': broker('bytes that a call adds are counted'),
  network: broker('exact host, port, scheme, method and path; one lookup; private addresses refused'),
  'network.inside_tls': broker('the broker makes the requests, and does TLS itself'),
  'network.websocket': nobody(
    'Wasm cells support only http and https; remove rules with the scheme ws or wss',
  ),
  env: wasm('the cell gets only granted names'),
  'env.secret': broker(
    'placeholders in the cell; values come in where a request leaves, towards declared hosts',
  ),
  syscalls: wasm('the engine has none'),
  programs: nobody(
    'WebAssembly cannot start programs; remove capabilities.programs, or run it as subprocess',
  ),
  skills: broker('the host makes the calls, each in a cell of its own with its own grant'),
  memory: wasm('maximum of the linear memory, and a limit on the process around it'),
  output: wasm('counted where it is written'),
  processes: wasm('the engine cannot start any'),
} satisfies Partial<EnforcementTable>;

/** What one engine adds to it. */
export type OwnEnforcement = Pick<EnforcementTable, 'scratch'> & Partial<EnforcementTable>;

/** A new field has to be named here or above: what a wall enforces for processes may mean nothing for what runs in Wasm. */
export function wasmEnforcement(wall: EnforcementTable, own: OwnEnforcement): EnforcementTable {
  return {
    timeout: wall.timeout,
    cpu: wall.cpu,
    'cpu.processes': wall['cpu.processes'],
    'memory.processes': wall['memory.processes'],
    ...IN_ANY_WASM,
    ...own,
  };
}

/** For engines whose code is instrumented to consume fuel. */
export const FUEL: Enforcement = wasm('deterministic fuel, and a watchdog on the CPU time of the call');
