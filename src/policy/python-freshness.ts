/**
 * What the operator can ask of Python in Wasm: how much of the interpreter every call gets anew.
 *
 * @module
 */
import { z } from 'zod';

/** The memory of the interpreter is always new. */
export interface PythonFreshness {
  /** Also a new instance of the engine. */
  newInstance: boolean;
  /** Also a run of the module body, which else is run once for many calls. */
  strict: boolean;
}

export const MEMORY_ALONE: PythonFreshness = { newInstance: false, strict: false };

/** The key `python_wasm` of a policy. */
export const pythonFreshness: z.ZodType<PythonFreshness> = z
  .strictObject({ new_instance: z.boolean(), strict: z.boolean() })
  .partial()
  .transform((given) => ({ newInstance: given.new_instance ?? false, strict: given.strict ?? false }));
