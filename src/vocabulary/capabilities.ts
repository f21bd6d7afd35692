/**
 * The capabilities that uses and denials refer to, and the manifest fields that must be enforced.
 *
 * @module
 */
import { DECLARED_LIMITS, SHARED_LIMITS, type DeclaredLimit, type SharedLimit } from './limits.ts';
import { choicesOf, namesOf, type Choices, type NamesWhere } from './table.ts';

interface CapabilityRow {
  /** Manifest fields that must be enforced for this capability. */
  fields: readonly CapabilityField[];
  /** A rule of the guard can name it. */
  guarded: boolean;
}

const CAPABILITIES = {
  filesystem: { fields: ['filesystem', 'filesystem.max_bytes'], guarded: true },
  network: { fields: ['network', 'network.websocket', 'network.inside_tls'], guarded: true },
  env: { fields: ['env'], guarded: true },
  secret: { fields: ['env.secret'], guarded: false },
  process: { fields: ['programs'], guarded: true },
  syscalls: { fields: ['syscalls'], guarded: false },
  skill: { fields: ['skills'], guarded: false },
  module: { fields: [], guarded: false },
} as const;

export type CapabilityName = keyof typeof CAPABILITIES;
export const CAPABILITY_NAMES: readonly CapabilityName[] = namesOf(CAPABILITIES);

const ROWS: Readonly<Record<CapabilityName, CapabilityRow>> = CAPABILITIES;

/** What a rule of the guard can name. */
export type GuardedCapability = NamesWhere<typeof CAPABILITIES, 'guarded', true>;

export const GUARDED_CAPABILITIES: Choices<GuardedCapability> = choicesOf(
  CAPABILITY_NAMES.filter((name): name is GuardedCapability => ROWS[name].guarded),
);

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
