/**
 * Calls of skills by other calls, as the broker of a call makes them.
 *
 * @module
 */
import type { SkillAnswer } from '../../guest/protocol.ts';
import type { CapabilityEvent } from '../outcome.ts';
import type { ErrorCode } from '../vocabulary/error-codes.ts';

export type { SkillAnswer };

/** Makes calls for a call, within what that call may delegate. */
export interface InnerCalls {
  /** `params` is JSON. Rejects only if the host itself fails: refusals and failures are answers. */
  call(name: string, params: Uint8Array, signal: AbortSignal): Promise<InnerAnswer>;
  /** What the grant says about calling this; noted as a use. */
  declared(name: string): string;
}

/** How an inner call ended; `result` is JSON. */
export type InnerAnswer = { ok: true; result: Uint8Array } | InnerRefusal;

export interface InnerRefusal {
  ok: false;
  code: ErrorCode;
  message: string;
  fix: string;
  /** Nothing was called, or its result is withheld, because it is not granted. */
  denied?: CapabilityEvent;
  /** Nothing was called, for another reason. */
  isUncalled?: true;
}
