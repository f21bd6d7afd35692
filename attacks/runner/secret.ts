/**
 * The invented secret of a run. It is in files, in memory and in the runtime's environment; an outcome
 * that contains it is a leak, whatever the skill says about it.
 *
 * @module
 */
import { randomBytes } from 'node:crypto';

/** How attacks recognise a secret without knowing it. */
export const SECRET_MARKER = 'invented-secret-';

export interface RunSecret {
  readonly value: string;
  [Symbol.dispose](): void;
}

/** Puts a fresh secret into the environment of this process, where real hosts have some too. */
export function plantSecret(): RunSecret {
  const value = `${SECRET_MARKER}${randomBytes(8).toString('hex')}`;
  const before = process.env['HOST_SECRET'];
  process.env['HOST_SECRET'] = value;
  return {
    value,
    [Symbol.dispose]: () => {
      if (before === undefined) delete process.env['HOST_SECRET'];
      else process.env['HOST_SECRET'] = before;
    },
  };
}
