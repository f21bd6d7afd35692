/**
 * Calls that run on other machines.
 *
 * @module
 */
import { type ExecuteOptions, type Outcome, type Runtime, SkillError } from '../inside.ts';

type QuietOptions = ExecuteOptions & { reject: false };

/** Runs calls on other machines. */
export interface Elsewhere {
  execute(
    ref: string,
    params: unknown,
    options: QuietOptions & { idempotencyKey?: string | undefined },
  ): Promise<Outcome>;
  /** Why no call can run now; undefined if one can. */
  obstacle(): string | undefined;
}

/** What a call asks, and where it may run. */
interface Wanted {
  ref: string;
  params: unknown;
  idempotencyKey: string | undefined;
}

/** Runs the call on this machine unless there is another place. */
export function executeIn(
  { runtime, elsewhere }: { runtime: Runtime; elsewhere?: Elsewhere },
  { ref, params, idempotencyKey }: Wanted,
  options: QuietOptions,
): Promise<Outcome> {
  if (!elsewhere) return runtime.execute(ref, params, options);
  // A worker has its own tenants: no workspace and no secret leaves this machine.
  const { tenant: _tenant, ...asked } = options;
  return elsewhere.execute(ref, params, { ...asked, idempotencyKey });
}

/** A header that promises something must not be ignored. */
export function assertKeyCounts(idempotencyKey: string | undefined, elsewhere: Elsewhere | undefined): void {
  if (idempotencyKey === undefined || elsewhere) return;
  throw new SkillError('usage', 'This service runs calls on its own machine and keeps no idempotency keys', {
    fix: 'Leave out the header Idempotency-Key, or ask the operator for a service with a cluster.',
  });
}
