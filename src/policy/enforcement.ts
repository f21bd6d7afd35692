/**
 * Who enforces what, per (wall, engine) pair on this machine, and the rule that follows from it:
 * a field that is set and that nobody enforces stops the load.
 *
 * @module
 */

export type Enforcer = 'kernel' | 'wasm' | 'broker' | 'watchdog' | 'nobody';

/** Every field of a manifest that has to be enforced by somebody. */
export const ENFORCED_FIELDS = [
  'filesystem',
  'filesystem.max_bytes',
  'network',
  'network.websocket',
  'network.inside_tls',
  'env',
  'env.secret',
  'syscalls',
  'timeout',
  'cpu',
  'cpu.processes',
  'memory',
  'memory.processes',
  'output',
  'processes',
  'scratch',
] as const;

export type EnforcedField = (typeof ENFORCED_FIELDS)[number];

export interface Enforcement {
  by: Enforcer;
  /** How, in a few words; for `nobody`: what would help. */
  how: string;
}

export type EnforcementTable = Record<EnforcedField, Enforcement>;
