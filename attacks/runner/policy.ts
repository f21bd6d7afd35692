/**
 * The policy of a runtime under attack: the servers of the corpus are on this machine's loopback, so that
 * address must be open if a manifest names it.
 *
 * @module
 */
import { DEFAULT_POLICY, type OperatorPolicy } from '../../src/for-attacks.ts';

export const ATTACK_POLICY: OperatorPolicy = { ...DEFAULT_POLICY, network: { allowPrivate: ['127.0.0.1'] } };
