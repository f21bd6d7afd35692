/**
 * Which denial caused a failure.
 *
 * @module
 */
import type { CapabilityEvent } from '../../outcome.ts';
import type { Denials, Explained, GuestReply } from '../contract.ts';

/** Attributes a failure of the skill to the last denial, unless the guest has ruled that out. */
export function withDenial(reply: GuestReply | undefined, denials: Denials): GuestReply | undefined {
  // Decided after the reply has been read.
  if (reply?.kind === 'unread') return { ...reply, denials };
  const { byHost, inside } = denials;
  if (reply?.kind !== 'error' || reply.limit) return reply;
  // The guest may say which denial caused the failure, but its details come from where it was recorded.
  const known = [...byHost, ...inside].find(({ asked }) => asked === reply.denied?.asked);
  const denied = known ?? suspects(reply.explained, { byHost, inside }).at(-1);
  return denied ? { ...reply, denied } : reply;
}

function suspects(explained: Explained | undefined, { byHost, inside }: Denials): CapabilityEvent[] {
  if (explained === 'wholly') return [];
  return explained === 'inside' ? byHost : [...byHost, ...inside];
}
