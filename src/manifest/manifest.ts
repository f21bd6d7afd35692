/**
 * The parsed manifest: the contract between a skill, its author and the operator.
 * Plain data; every size is in bytes and every duration in milliseconds.
 *
 * @module
 */
import type { LimitAmounts } from '../vocabulary/limits.ts';
import type { ExecutionDemand, Mode } from '../vocabulary/modes.ts';
import type { Scheme } from '../vocabulary/network-schemes.ts';
import type { PathAccess } from '../vocabulary/path-access.ts';

/** A JSON Schema as plain data. */
export type JsonSchema = Record<string, unknown>;

export interface FilesystemRule {
  /** As written: relative (inside the bundle), absolute, or starting with `${workspace}`. */
  path: string;
  access: PathAccess;
  maxBytes?: number;
}

export interface NetworkRule {
  host: string;
  port?: number;
  scheme?: Scheme;
  methods?: string[];
  paths?: string[];
}

export type SyscallRule = 'default' | 'strict' | { deny: string[] };

export interface Capabilities {
  filesystem: FilesystemRule[];
  network: NetworkRule[];
  syscalls: SyscallRule;
  /** System programs that a command of the skill may start directly; absent: none. */
  programs?: string[];
  /** Patterns of the skills that it calls; absent: none. */
  skills?: string[];
}

export interface EnvRule {
  required: boolean;
  secret: boolean;
  /** Hosts that a secret may be sent to; has no effect without `secret`. */
  hosts: string[];
  description?: string;
}

/** Limits as declared; absent ones get a finite default when the grant is computed. */
export type Limits = Partial<LimitAmounts>;

export type ContainerParams = 'stdin' | `env:${string}` | `file:${string}`;

/** Exactly one of `image` and `dockerfile`. */
export interface ContainerRule {
  image?: string;
  /** Inside the bundle; `skillcell build` builds an image from it. */
  dockerfile?: string;
  /** Lets the build use the network; off if absent. Does not affect calls. */
  buildNetwork?: boolean;
  /** Name of an OCI runtime; if absent, the wall chooses one. */
  runtime?: string;
  /** Never root. If absent, the image's user, or `nobody`. */
  user?: string;
  /** How a program of the image gets its parameters; if absent, `stdin`. */
  params?: ContainerParams;
}

/** A parsed manifest. */
export interface Manifest {
  /** `category/name`. */
  name: string;
  version: string;
  description: string;
  shortDescription?: string;
  parameters: JsonSchema;
  /** Maps each result key to its schema; empty if nothing is declared. */
  outputs: Record<string, JsonSchema>;
  requirements: string[];
  /** In order of preference; empty means the strongest mode that can run it here. */
  execution: Mode[];
  /** What every mode of the skill must provide, whatever a caller asks for. */
  executionDemand?: ExecutionDemand;
  /** Path of the entry inside the bundle, if the manifest names one. */
  entry?: string;
  /** Its author says that the same call may run twice. Absent: it may not. */
  idempotent?: true;
  env: Record<string, EnvRule>;
  capabilities: Capabilities;
  /** False for bundles (Skillware, SKILL.md) that have no `capabilities` section at all. */
  declaresCapabilities: boolean;
  limits: Limits;
  container?: ContainerRule;
  /** Fields that are kept but not interpreted: issuer, constitution, category, presentation, … */
  extra: Record<string, unknown>;
}

export interface ParsedManifest {
  manifest: Manifest;
  warnings: string[];
}
