/**
 * Digests of a call's parameters and grant. They do not depend on the result, so they are computed while the host waits for
 * the cell.
 *
 * @module
 */
import type { Grant } from '../policy/grant.ts';
import { digestJson } from './canonical-json.ts';

export interface CallDigests {
  params: string;
  grant: string;
}

/** Large parameters as a receipt needs them; a worker thread computed the digest. */
export class DigestedParams {
  readonly digest: string;
  readonly bytes: number;

  constructor(digest: string, bytes: number) {
    this.digest = digest;
    this.bytes = bytes;
  }
}

export function digestCall(params: unknown, grant: Grant | undefined): CallDigests {
  const ofParams = params instanceof DigestedParams ? params.digest : digest(params);
  return { params: ofParams, grant: digest(grant ? withoutValues(grant) : null) };
}

/** Computes the digests when the event loop is idle and passes them to `onTime`, or when the returned function asks first. */
export function digestLazily(
  params: unknown,
  grant: Grant,
  onTime?: (digests: CallDigests) => void,
): () => CallDigests {
  let cached: CallDigests | undefined;
  const compute = (): CallDigests => (cached ??= digestCall(params, grant));
  // Runs after the request is sent and before the reply is read.
  const soon = setImmediate(() => {
    try {
      const digests = compute();
      onTime?.(digests);
    } catch {
      // The returned function computes them again and throws to its caller.
      return;
    }
  });
  return () => {
    clearImmediate(soon);
    return compute();
  };
}

/** Parameters that are not JSON were refused, but the refusal needs a receipt too. */
export function digest(value: unknown): string {
  try {
    return digestJson(value);
  } catch {
    return digestJson(`no JSON: ${typeof value}`);
  }
}

/** The grant without the values of variables and the shapes of secrets, so that its digest does not depend on them. */
function withoutValues(grant: Grant): Record<string, unknown> {
  const secrets = grant.secrets?.map(({ name, hosts }) => ({ name, hosts }));
  return { ...grant, env: Object.keys(grant.env), ...(secrets ? { secrets } : {}) };
}
