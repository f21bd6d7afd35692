/**
 * What programs can call, as a typing language describes it.
 *
 * @module
 */
import type { JsonSchema } from '../../manifest/manifest.ts';

/** A function of programs: a skill, or a function of the host. All texts and schemas are untrusted. */
export interface Callable {
  /** `category/name`. */
  name: string;
  description: string;
  parameters: JsonSchema;
  outputs: Record<string, JsonSchema>;
}
