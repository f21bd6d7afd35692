/**
 * The manifest after parsing: the contract between a skill, its author and the operator.
 * Plain data; every size is in bytes and every duration in milliseconds.
 *
 * @module
 */
import type { Mode } from '../outcome.ts';

export type JsonSchema = Record<string, unknown>;

export interface FilesystemRule {
  /** As written: relative (inside the bundle), absolute, or starting with `${workspace}`. */
  path: string;
  access: 'read' | 'read-write';
  maxBytes?: number;
}

export interface NetworkRule {
  host: string;
  port?: number;
  scheme?: 'http' | 'https' | 'ws' | 'wss';
  methods?: string[];
  paths?: string[];
}

export type SyscallRule = 'default' | 'strict' | { deny: string[] };

export interface Capabilities {
  filesystem: FilesystemRule[];
  network: NetworkRule[];
  syscalls: SyscallRule;
}

export interface EnvRule {
  required: boolean;
  secret: boolean;
  /** Where a secret may be sent; only meaningful with `secret`. */
  hosts: string[];
  description?: string;
}

/** Limits as declared; what is absent gets a finite default when the grant is computed. */
export interface Limits {
  timeout?: number;
  cpu?: number;
  memory?: number;
  output?: number;
  /** Child processes the skill may have. Absent: it may not start any. */
  processes?: number;
  scratch?: number;
}

/** Exactly one of `image` and `dockerfile`. */
export interface ContainerRule {
  image?: string;
  /** Inside the bundle; `skillcell build` makes an image of it. */
  dockerfile?: string;
  /** The build may use the network. Absent: it has none. Says nothing about calls. */
  buildNetwork?: boolean;
  /** Name of an OCI runtime; absent: the one that the wall prefers. */
  runtime?: string;
  /** Never root. Absent: what the image says, or nobody. */
  user?: string;
}

export interface Manifest {
  /** `category/name`. */
  name: string;
  version: string;
  description: string;
  shortDescription?: string;
  parameters: JsonSchema;
  /** Map of result key to schema; empty when nothing is declared. */
  outputs: Record<string, JsonSchema>;
  requirements: string[];
  /** In order of preference; empty means: the strongest mode that can run it here. */
  execution: Mode[];
  /** Path of the entry inside the bundle, when the manifest names one. */
  entry?: string;
  env: Record<string, EnvRule>;
  capabilities: Capabilities;
  /** False for bundles (Skillware, SKILL.md) that have no `capabilities` section at all. */
  declaresCapabilities: boolean;
  limits: Limits;
  container?: ContainerRule;
  /** Fields we carry but do not interpret: issuer, constitution, category, presentation, … */
  extra: Record<string, unknown>;
}

export interface ParsedManifest {
  manifest: Manifest;
  warnings: string[];
}
