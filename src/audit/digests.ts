/**
 * Digests of what a call begins with. They are the same whatever comes back, so they are made while the host has nothing
 * to do but wait for the cell.
 *
 * @module
 */
import type { Grant } from '../policy/grant.ts';
import { digestJson } from './canonical-json.ts';

export interface CallDigests {
  params: string;
  grant: string;
}

/** Large parameters, as a receipt knows them: a worker thread has made their digest. */
export class DigestedParams {
  readonly digest: string;
  readonly bytes: number;

  constructor(digest: string, bytes: number) {
    this.digest = digest;
    this.bytes = bytes;
  }
}

export function digestCall(params: unknown, grant: Grant | undefined): CallDigests {
  const made = params instanceof DigestedParams ? params.digest : digest(params);
  return { params: made, grant: digest(grant ? withoutValues(grant) : null) };
}

/** The returned function gives the digests, and makes them if there was no time yet; `onTime` gets them if there was. */
export function digestMeanwhile(
  params: unknown,
  grant: Grant,
  onTime?: (digests: CallDigests) => void,
): () => CallDigests {
  let made: CallDigests | undefined;
  const make = (): CallDigests => (made ??= digestCall(params, grant));
  // Runs when the request is on its way and before anybody looks for the answer.
  const soon = setImmediate(() => {
    try {
      const digests = make();
      onTime?.(digests);
    } catch {
      // Whoever asks for the digests makes them again, and has somebody to tell.
      return;
    }
  });
  return () => {
    clearImmediate(soon);
    return make();
  };
}

/** Parameters that are no JSON were refused, but the refusal is written down like any other. */
export function digest(value: unknown): string {
  try {
    return digestJson(value);
  } catch {
    return digestJson(`no JSON: ${typeof value}`);
  }
}

/** What was granted, the same for every value of a variable and every kind of key. */
function withoutValues(grant: Grant): Record<string, unknown> {
  const secrets = grant.secrets?.map(({ name, hosts }) => ({ name, hosts }));
  return { ...grant, env: Object.keys(grant.env), ...(secrets ? { secrets } : {}) };
}
