/**
 * The operator's settings for Python in Wasm: how much of the interpreter is new for every call.
 *
 * @module
 */
import { z } from 'zod';

/** The memory of the interpreter is always new. */
export interface PythonFreshness {
  /** Also a new instance of the engine. */
  newInstance: boolean;
  /** Also runs the module body for every call instead of once for many. */
  strict: boolean;
}

export const NEW_MEMORY_ONLY: PythonFreshness = { newInstance: false, strict: false };

/** The key `python_wasm` of a policy. */
export const pythonFreshness: z.ZodType<PythonFreshness> = z
  .strictObject({ new_instance: z.boolean(), strict: z.boolean() })
  .partial()
  .transform((given) => ({ newInstance: given.new_instance ?? false, strict: given.strict ?? false }));
