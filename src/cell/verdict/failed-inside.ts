/**
 * A call that did not catch the failure of a call inside it ends the same way, so that a denial is a denial at every depth.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { printable } from '../../manifest/printable.ts';
import { OWN_FAULTS } from '../../vocabulary/error-codes.ts';
import type { CellReport, GuestReply } from '../contract.ts';

/** The name of the exception in every language. */
const TYPE = 'SkillCallError';
/** Guests shorten messages, none to less than this. */
const COMPARED = 1000;

/**
 * The error behind the reply, if it is one that the host itself gave to this call: the guest names it, and code and texts
 * come from the host's record. Undefined for failures that are the caller's own mistake, such as wrong parameters.
 */
export function failedInside(
  reply: Extract<GuestReply, { kind: 'error' }>,
  { failedInside: failed = [] }: Pick<CellReport, 'failedInside'>,
): SkillError | undefined {
  if (reply.type !== TYPE) return undefined;
  const text = reply.message.slice(0, COMPARED);
  const known = failed.findLast(({ message }) => printable(message).slice(0, COMPARED) === text);
  if (!known || OWN_FAULTS[known.code]) return undefined;
  const { code, message, fix, detail, denied } = known;
  return new SkillError(code, message, { fix, detail: { ...detail, ...denied, trace: reply.trace } });
}
