/**
 * Limits of the frames of a cell that serves one call.
 *
 * @module
 */
import type { SingleUseFrames } from '../../../guest/protocol.ts';
import type { Grant } from '../../policy/grant.ts';
import type { FrameLimits, GuestFrame } from './frames.ts';
import { MAX_SKILL_PARAMS } from './skill-asks.ts';

/** Room in a frame in addition to the result itself. */
const FRAME_SLACK_BYTES = 64 * 1024;
export const MAX_FRAMES = 256;
/** Limit for all frames of a call except its reply; larger than all denials that are kept. */
export const MAX_EVENT_BYTES: number = 256 * 1024;
/** Maximum number of uses that the harness reports while the needs of a skill are recorded. */
export const MAX_USED = 4096;
const MAX_USED_BYTES = 4 * 1024 * 1024;

type Limited = Pick<Grant, 'limits' | 'observe' | 'skills'>;

/** What the reader of the channel enforces. Requests about skills may be many, so the kinds are then counted apart. */
export function frameLimits(grant: Limited): FrameLimits {
  const { limits, skills } = grant;
  const maxReplyBytes = limits.output + FRAME_SLACK_BYTES;
  if (!skills) return { maxReplyBytes, maxPayloadBytes: maxReplyBytes, ...eventLimits(grant) };
  // Any payload may belong to a request; that of a result is compared with the limit later.
  const maxPayloadBytes = Math.max(limits.output, MAX_SKILL_PARAMS) + FRAME_SLACK_BYTES;
  return { maxReplyBytes, maxPayloadBytes, maxFrames: Number.POSITIVE_INFINITY };
}

function eventLimits({ observe }: Limited): { maxFrames: number; maxTotalBytes: number } {
  return {
    maxFrames: MAX_FRAMES + (observe ? MAX_USED : 0),
    maxTotalBytes: MAX_EVENT_BYTES + (observe ? MAX_USED_BYTES : 0),
  };
}

/** Counts all frames but requests, which are counted where they are served. */
export class EventCount {
  readonly #limits: { maxFrames: number; maxTotalBytes: number };
  readonly #isNeeded: boolean;
  #frames = 0;
  #bytes = 0;

  constructor(grant: Limited) {
    this.#limits = eventLimits(grant);
    this.#isNeeded = grant.skills !== undefined;
  }

  /** False if it is one too many. */
  allows(kind: keyof SingleUseFrames | undefined, { bytes }: GuestFrame): boolean {
    if (!this.#isNeeded || kind === 'ask') return true;
    if (kind !== 'result' && kind !== 'error') this.#bytes += bytes;
    return ++this.#frames <= this.#limits.maxFrames && this.#bytes <= this.#limits.maxTotalBytes;
  }
}
