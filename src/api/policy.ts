/**
 * `skillcell/policy`: reads the operator's policy and finds the files in force.
 *
 * @module
 */
export { findPolicies } from '../policy/find-policy.ts';
export { namedPolicy, policyInForce, trustPolicy } from '../policy/in-force.ts';
export type { PolicyPlaces } from '../policy/in-force.ts';
export { DEFAULT_POLICY, parsePolicy } from '../policy/operator.ts';
export type { OperatorPolicy } from '../policy/operator.ts';
