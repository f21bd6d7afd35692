/**
 * All limits: those that a manifest declares, and those that Skillcell sets itself.
 *
 * @module
 */
import { mapTable, namesOf, type NamesWhere } from './table.ts';

/** The unit of an amount: milliseconds, bytes, or a plain number. */
export type Unit = 'duration' | 'size' | 'count';

export interface LimitRow {
  unit: Unit;
  /** Used if the manifest does not declare the limit. */
  default: number;
  /** Used if the operator's policy does not set a ceiling. */
  ceiling: number;
  /** Prefix of its line in the capability set, which locks and approvals contain. */
  line: string;
  /** Follows the amount in messages. */
  of: string;
  /** A caller may lower it for one call. */
  lowerable: boolean;
  /** Shared by all processes of a call, which takes more to enforce than a limit per process. */
  shared: boolean;
  /** The host can end a cell that exceeds it. */
  endedByHost: boolean;
  /** Code inside a cell can be the first to notice. */
  seenByGuest: boolean;
}

/** Limits that a manifest declares and a policy puts a ceiling on. */
export const LIMITS = {
  timeout: {
    unit: 'duration',
    default: 30_000,
    ceiling: 300_000,
    line: 'limit timeout',
    of: '',
    lowerable: true,
    shared: false,
    endedByHost: true,
    seenByGuest: false,
  },
  cpu: {
    unit: 'duration',
    default: 10_000,
    ceiling: 120_000,
    line: 'limit cpu',
    of: ' of CPU time',
    lowerable: false,
    shared: true,
    endedByHost: true,
    seenByGuest: false,
  },
  memory: {
    unit: 'size',
    default: 268_435_456, // 256 MiB
    ceiling: 2_147_483_648, // 2 GiB
    line: 'limit memory',
    of: '',
    lowerable: true,
    shared: true,
    endedByHost: true,
    seenByGuest: true,
  },
  output: {
    unit: 'size',
    default: 1_048_576, // 1 MiB
    ceiling: 16_777_216, // 16 MiB
    line: 'limit output',
    of: ' of output',
    lowerable: false,
    shared: false,
    endedByHost: true,
    seenByGuest: true,
  },
  processes: {
    unit: 'count',
    // Threads are not counted as processes.
    default: 0,
    ceiling: 256,
    line: 'processes',
    of: ' processes',
    lowerable: false,
    shared: false,
    endedByHost: false,
    seenByGuest: true,
  },
  scratch: {
    unit: 'size',
    default: 16_777_216, // 16 MiB
    ceiling: 1_073_741_824, // 1 GiB
    line: 'limit scratch',
    of: ' of scratch space',
    lowerable: false,
    shared: false,
    endedByHost: true,
    seenByGuest: true,
  },
} as const;

export interface FixedLimitRow {
  /** The exhausted resource, for messages. */
  amount: string;
  /** The declared limit that it is derived from, if any. */
  follows?: DeclaredLimit;
  seenByGuest: boolean;
}

/** Limits that a manifest cannot declare. */
const FIXED_LIMITS = {
  /** Counts work in Wasm, identically in every run, unlike CPU time. */
  fuel: { amount: 'the work of ', follows: 'cpu', seenByGuest: true },
  handles: { amount: 'open handles', seenByGuest: true },
  host_calls: { amount: 'requests to the host', seenByGuest: true },
  /** More concurrent calls than the host accepts. */
  busy: { amount: 'calls at once', seenByGuest: false },
  /** Of a tree of calls, drawn from its root. */
  calls: { amount: 'calls inside', seenByGuest: false },
  depth: { amount: 'calls above each other', seenByGuest: false },
  bridge: { amount: 'bytes passed between calls', seenByGuest: false },
} as const;

export type DeclaredLimit = keyof typeof LIMITS;
export type FixedLimit = keyof typeof FIXED_LIMITS;
/** Every limit that `resource_exceeded` can report. */
export type LimitName = DeclaredLimit | FixedLimit;
/** Limits that code inside a cell can be the first to notice. */
export type GuestLimit =
  | NamesWhere<typeof LIMITS, 'seenByGuest', true>
  | NamesWhere<typeof FIXED_LIMITS, 'seenByGuest', true>;
/** Limits for which the host ends a cell. */
export type HostLimit = NamesWhere<typeof LIMITS, 'endedByHost', true>;
/** Limits that a caller may lower for one call. */
export type LowerableLimit = NamesWhere<typeof LIMITS, 'lowerable', true>;
/** Limits that all processes of a call share. */
export type SharedLimit = NamesWhere<typeof LIMITS, 'shared', true>;

/** With one row type, for lookups by name. */
export const LIMIT_ROWS: Readonly<Record<DeclaredLimit, LimitRow>> = LIMITS;
export const FIXED_LIMIT_ROWS: Readonly<Record<FixedLimit, FixedLimitRow>> = FIXED_LIMITS;

export const DECLARED_LIMITS: readonly DeclaredLimit[] = namesOf(LIMITS);
export const LIMIT_NAMES: readonly LimitName[] = [...DECLARED_LIMITS, ...namesOf(FIXED_LIMITS)];
export const GUEST_LIMITS: readonly GuestLimit[] = LIMIT_NAMES.filter(isGuestLimit);
export const LOWERABLE_LIMITS: readonly LowerableLimit[] = DECLARED_LIMITS.filter(isLowerable);
export const SHARED_LIMITS: readonly SharedLimit[] = DECLARED_LIMITS.filter(isShared);

/** An amount for each declared limit; durations in milliseconds, sizes in bytes. */
export type LimitAmounts = Record<DeclaredLimit, number>;

export const DEFAULT_LIMITS: LimitAmounts = mapTable(LIMIT_ROWS, (_, row) => row.default);
export const DEFAULT_CEILINGS: LimitAmounts = mapTable(LIMIT_ROWS, (_, row) => row.ceiling);

export function isDeclaredLimit(name: LimitName): name is DeclaredLimit {
  return Object.hasOwn(LIMITS, name);
}

function isGuestLimit(name: LimitName): name is GuestLimit {
  return isDeclaredLimit(name) ? LIMIT_ROWS[name].seenByGuest : FIXED_LIMIT_ROWS[name].seenByGuest;
}

export function isLowerable(name: DeclaredLimit): name is LowerableLimit {
  return LIMIT_ROWS[name].lowerable;
}

function isShared(name: DeclaredLimit): name is SharedLimit {
  return LIMIT_ROWS[name].shared;
}
