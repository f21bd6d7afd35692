/**
 * The policy of a runtime under attack: the servers of the corpus are on the loopback of this machine, so that
 * address has to be open where a manifest names it.
 *
 * @module
 */
import { DEFAULT_POLICY, type OperatorPolicy } from '../../src/policy/operator.ts';

export const ATTACK_POLICY: OperatorPolicy = { ...DEFAULT_POLICY, network: { allowPrivate: ['127.0.0.1'] } };
