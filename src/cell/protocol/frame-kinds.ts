/**
 * The kinds of frames that the host reads. When `guest/protocol.ts` gains a kind, the compiler reports this file first,
 * and then every switch over the kinds.
 *
 * @module
 */
import type { ReusableFrames, SingleUseFrames, ZygoteFrames } from '../../../guest/protocol.ts';

const SINGLE_USE = {
  ready: true,
  loaded: true,
  denied: true,
  used: true,
  ask: true,
  result: true,
  error: true,
} satisfies Record<keyof SingleUseFrames, true>;

const REUSABLE = {
  ready: true,
  loaded: true,
  failed: true,
  log: true,
  denied: true,
  used: true,
  ask: true,
  result: true,
  error: true,
  ended: true,
} satisfies Record<keyof ReusableFrames, true>;

const ZYGOTE = {
  ready: true,
  listening: true,
  forked: true,
  exit: true,
} satisfies Record<keyof ZygoteFrames, true>;

/** Kind of a frame from a cell that serves one call; undefined for anything else. */
export function singleUseKind(body: { t?: unknown }): keyof SingleUseFrames | undefined {
  return kindIn(SINGLE_USE, body);
}

/** Kind of a frame from a cell that serves many calls. */
export function reusableKind(body: { t?: unknown }): keyof ReusableFrames | undefined {
  return kindIn(REUSABLE, body);
}

/** Kind of a frame from a process that forks cells. */
export function zygoteKind(body: { t?: unknown }): keyof ZygoteFrames | undefined {
  return kindIn(ZYGOTE, body);
}

function kindIn<Kinds extends object>(kinds: Kinds, { t }: { t?: unknown }): keyof Kinds | undefined {
  return typeof t === 'string' && Object.hasOwn(kinds, t) ? (t as keyof Kinds) : undefined;
}
