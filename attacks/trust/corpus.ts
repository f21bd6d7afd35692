/**
 * All attacks on trust: on identities, on approvals, and on who may give them.
 *
 * @module
 */
import { APPROVAL_ATTACKS } from './approvals.ts';
import { ATTESTATION_ATTACKS } from './attestations.ts';
import type { TrustAttack } from './attack.ts';
import { GUARD_ATTACKS } from './guards.ts';
import { MODE_ATTACKS } from './modes.ts';
import { NAME_ATTACKS } from './names.ts';
import { NATIVE_FRAME_ATTACKS } from './native-frames.ts';
import { PIN_ATTACKS } from './pins.ts';
import { PROGRAM_BUDGET_ATTACKS } from './program-budgets.ts';
import { PROGRAM_FRAME_ATTACKS } from './program-frames.ts';
import { PROGRAM_RESULT_ATTACKS } from './program-results.ts';
import { PROGRAM_ATTACKS } from './programs.ts';
import { POLICY_ATTACKS } from './policies.ts';
import { SWAP_ATTACKS } from './swaps.ts';
import { VARIABLE_ATTACKS } from './variables.ts';
import { WORD_ATTACKS } from './words.ts';

export const TRUST_ATTACKS: readonly TrustAttack[] = [
  ...NAME_ATTACKS,
  ...MODE_ATTACKS,
  ...SWAP_ATTACKS,
  ...PIN_ATTACKS,
  ...ATTESTATION_ATTACKS,
  ...APPROVAL_ATTACKS,
  ...POLICY_ATTACKS,
  ...VARIABLE_ATTACKS,
  ...GUARD_ATTACKS,
  ...WORD_ATTACKS,
  ...PROGRAM_ATTACKS,
  ...NATIVE_FRAME_ATTACKS,
  ...PROGRAM_FRAME_ATTACKS,
  ...PROGRAM_RESULT_ATTACKS,
  ...PROGRAM_BUDGET_ATTACKS,
];
