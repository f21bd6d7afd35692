/**
 * The enforcement table of a (wall, engine) pair on this machine. A field that is set and not enforced prevents the
 * load.
 *
 * @module
 */

import type { EnforcedField, Enforcer } from '../vocabulary/capabilities.ts';

export interface Enforcement {
  by: Enforcer;
  /** How it is enforced, in a few words; for `nobody`, what would help. */
  how: string;
}

export type EnforcementTable = Record<EnforcedField, Enforcement>;
