/**
 * The grant of one call: manifest ∩ operator policy ∩ the caller's lower limits.
 * Pure data, computed before anything runs.
 *
 * @module
 */
import type { NetworkRule, SyscallRule } from '../manifest/manifest.ts';
import type { LimitAmounts } from '../vocabulary/limits.ts';
import type { PathAccess } from '../vocabulary/path-access.ts';

/** The largest file that a call may create in a granted folder, in every mode; `max_bytes` of the path can be less. */
export const LARGEST_FILE_BYTES: number = 1024 ** 3;

/** An observed call may try any host, so that its needs can be recorded. */
export function mayReachHosts(grant: Grant): boolean {
  return grant.network.length > 0 || grant.observe !== undefined;
}

/**
 * Does a native cell have a gateway? One that may start programs always has, because only the gateway sees what those
 * programs try to reach.
 */
export function hasGateway(grant: Grant): boolean {
  return mayReachHosts(grant) || grant.limits.processes > 0;
}

export interface GrantedPath {
  /** Real directory or file on the host. */
  host: string;
  /** Its path inside the cell. */
  guest: string;
  access: PathAccess;
  maxBytes?: number;
  /** Set when the path is resolved; absent for a folder. */
  isFile?: boolean;
  /** Already granted by an outer path; the separate mount only keeps it from being moved. */
  isPin?: boolean;
}

/** Finite for every limit; with `processes: 0` the skill may start threads but no processes. */
export type GrantedLimits = LimitAmounts;

/** Why a declared workspace is withheld from a call that has none. */
export const NO_WORKSPACE = 'this call has no workspace';

/** A capability that the manifest declares and that is not granted. */
export interface Withheld {
  capability: 'filesystem' | 'network' | 'env' | 'program';
  declared: string;
  reason: string;
  /** How to get it granted. */
  fix: string;
}

/** A secret that the call may use: the cell holds a placeholder, the value stays with the broker. */
export interface GrantedSecret {
  name: string;
  /** Hosts that the value may be sent to. */
  hosts: string[];
  required: boolean;
  /** Only while needs are recorded: the value may go to any host that the call reaches, and each host is recorded. */
  anyHost?: true;
  /** The form of the placeholder; known once there is a value. */
  shape?: SecretShape;
}

/** The properties that format checks of a key look at, without anything that helps to guess the key. */
export interface SecretShape {
  /** A prefix that identifies the kind of key, such as `sk-`. */
  prefix: string;
  alphabet: 'hex' | 'letters' | 'uuid';
  length: number;
}

/** A call whose needs are recorded: uses are reported in full, and it may try hosts that no rule names. */
export interface Observation {
  /** Patterns of hosts that may be reached without a rule; `*` means all. */
  hosts: string[];
}

export interface Grant {
  filesystem: GrantedPath[];
  network: NetworkRule[];
  /** Private addresses that a rule may name; only the operator can allow them. */
  privateAddresses?: string[];
  /** TLS of native programs ends in the gateway, which then sees their requests. */
  inspectTls?: boolean;
  /** Values for the declared names only. */
  env: Record<string, string>;
  secrets?: GrantedSecret[];
  observe?: Observation;
  syscalls: SyscallRule;
  /** System programs that a command may start directly; absent: none. */
  programs?: string[];
  /** Patterns of the skills that it may call; absent: it has no way to call any. A program is told by its tree of calls. */
  skills?: string[];
  limits: GrantedLimits;
  withheld: Withheld[];
}
