/**
 * The capabilities that uses and denials refer to, and the manifest fields that must be enforced.
 *
 * @module
 */
import { DECLARED_LIMITS, SHARED_LIMITS, type DeclaredLimit, type SharedLimit } from './limits.ts';
import { namesOf } from './table.ts';

interface CapabilityRow {
  /** Manifest fields that must be enforced for this capability. */
  fields: readonly CapabilityField[];
}

export const CAPABILITIES = {
  filesystem: { fields: ['filesystem', 'filesystem.max_bytes'] },
  network: { fields: ['network', 'network.websocket', 'network.inside_tls'] },
  env: { fields: ['env'] },
  secret: { fields: ['env.secret'] },
  process: { fields: ['programs'] },
  syscalls: { fields: ['syscalls'] },
  skill: { fields: ['skills'] },
  module: { fields: [] },
} as const;

export type CapabilityName = keyof typeof CAPABILITIES;
export const CAPABILITY_NAMES: readonly CapabilityName[] = namesOf(CAPABILITIES);

const ROWS: Readonly<Record<CapabilityName, CapabilityRow>> = CAPABILITIES;

/** A manifest field about a capability. */
export type CapabilityField = (typeof CAPABILITIES)[CapabilityName]['fields'][number];
/** A limit of a call, or the total across all its processes. */
type LimitField = DeclaredLimit | `${SharedLimit}.processes`;
/** A manifest field that must be enforced. */
export type EnforcedField = CapabilityField | LimitField;

export const CAPABILITY_FIELDS: readonly CapabilityField[] = CAPABILITY_NAMES.flatMap(
  (name) => ROWS[name].fields,
);

export const ENFORCED_FIELDS: readonly EnforcedField[] = [
  ...CAPABILITY_FIELDS,
  ...DECLARED_LIMITS,
  ...SHARED_LIMITS.map((limit) => `${limit}.processes` as const),
];

/** The part that enforces a field; `nobody` means that a manifest that sets the field is refused. */
export type Enforcer = 'kernel' | 'wasm' | 'broker' | 'watchdog' | 'nobody';
