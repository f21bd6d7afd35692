/**
 * Deadlines of attacks that something other than the deadline must stop. On a busy machine a call takes many times as long
 * as on a quiet one, and a call that passes its deadline would say nothing about the wall.
 *
 * @module
 */

/** In the manifest of an attack, unless it declares its own. The deadline of a call can only be lower. */
export const PATIENT_LIMITS = { timeout: '120s' } as const;

/** The same for the call that shows that others still work. */
export const PATIENT_MS = 120_000;

/** Of the first try; each further one gets more. */
export const GENEROUS_MS = 30_000;
