/**
 * The operator's sources of secrets: an ordered list, of which the first that has a secret is used.
 *
 * @module
 */
import { isAbsolute } from 'node:path';
import { z } from 'zod';

export type SecretSource = 'environment' | { file: string } | { command: string[] };

const source = z.union(
  [
    z.literal('environment'),
    z.strictObject({ file: z.string().refine(isAbsolute, { error: 'must be an absolute path' }) }),
    z.strictObject({ command: z.array(z.string().min(1)).min(1) }),
  ],
  { error: 'must be "environment", { file: PATH } or { command: [PROGRAM, ARGUMENT, …] }' },
);

/** The key `secrets` of a policy. */
export const secretSources: z.ZodType<SecretSource[]> = z.array(source).min(1);
