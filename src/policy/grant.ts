/**
 * What one call may do: manifest ∩ operator policy ∩ what this call asked to lower.
 * Pure data, computed before anything runs.
 *
 * @module
 */
import type { NetworkRule, SyscallRule } from '../manifest/manifest.ts';

/** The largest file that a call makes in a granted folder, in every mode; `max_bytes` of the path can be less. */
export const LARGEST_FILE_BYTES: number = 1024 ** 3;

/** A call that is observed may try, so that it is seen what it asks for. */
export function mayReachHosts(grant: Grant): boolean {
  return grant.network.length > 0 || grant.observe !== undefined;
}

/**
 * Whether a native cell has a gateway. One that may start programs has, whatever it was granted: nothing else sees what
 * those programs try to reach.
 */
export function hasGateway(grant: Grant): boolean {
  return mayReachHosts(grant) || grant.limits.processes > 0;
}

export interface GrantedPath {
  /** Real directory or file on the host. */
  host: string;
  /** Where the skill sees it. */
  guest: string;
  access: 'read' | 'read-write';
  maxBytes?: number;
  /** Found out when the path is resolved; absent for a folder. */
  isFile?: boolean;
  /** Granted with the path around it already: a mount of its own only keeps it from being moved. */
  isPin?: boolean;
}

export interface GrantedLimits {
  timeout: number;
  cpu: number;
  memory: number;
  output: number;
  /** 0: the skill may not start a process (threads are fine). */
  processes: number;
  scratch: number;
}

/** A capability that the manifest declares and the operator did not grant. */
export interface Withheld {
  capability: 'filesystem' | 'network' | 'env';
  declared: string;
  reason: string;
  /** What the reader can do to get it granted. */
  fix: string;
}

/** A secret that the call may use: the cell holds a placeholder, the value stays with the broker. */
export interface GrantedSecret {
  name: string;
  /** Where the value may go. */
  hosts: string[];
  required: boolean;
  /** Only while needs are recorded: the value goes to any host that the call reaches, and where it went is told. */
  anyHost?: true;
  /** What the placeholder has to look like; known once there is a value. */
  shape?: SecretShape;
}

/** What code that checks the form of a key may look at, and nothing that helps to guess one. */
export interface SecretShape {
  /** A beginning that tells the kind of key, such as `sk-`. */
  prefix: string;
  alphabet: 'hex' | 'letters' | 'uuid';
  length: number;
}

/** A call whose needs are recorded: uses are told in full, and hosts may be tried that no rule names. */
export interface Observation {
  /** Patterns of hosts that may be reached without a rule; `*` stands for all. */
  hosts: string[];
}

export interface Grant {
  filesystem: GrantedPath[];
  network: NetworkRule[];
  /** Addresses beside the public ones that a rule may name: the operator's word alone opens them. */
  privateAddresses?: string[];
  /** TLS of native programs ends in the gateway, which then sees their requests. */
  inspectTls?: boolean;
  /** Values for the declared names only. */
  env: Record<string, string>;
  secrets?: GrantedSecret[];
  observe?: Observation;
  syscalls: SyscallRule;
  limits: GrantedLimits;
  withheld: Withheld[];
}
