/**
 * Acts that nobody granted, as errors that tell what was asked for.
 *
 * @module
 */
import { host } from './host.ts';

export interface Denial {
  capability: string;
  asked: string;
  declared: string;
}

const MAX_CAUSES = 32;
const reported = new Set<string>();

/** An undeclared act. */
export class CapabilityDenied extends Error {
  readonly denial: Denial;

  constructor(denial: Denial) {
    super(`Skillcell denied: ${denial.asked} (${denial.declared})`);
    this.denial = denial;
  }

  override get name(): string {
    return 'CapabilityDenied';
  }
}

/** Tells the host, once for each. */
export function note(kind: 'denied' | 'used', { capability, asked, declared }: Denial): void {
  const text = [kind, capability, asked.replaceAll('\n', '?'), declared].join('\n');
  if (reported.has(text)) return;
  reported.add(text);
  host.note(text);
}

/** The denial that led to this error, as far as `cause` tells. */
export function denialBehind(error: unknown): Denial | undefined {
  let cause: unknown = error;
  for (let left = MAX_CAUSES; left > 0 && cause instanceof Error; left--) {
    if (cause instanceof CapabilityDenied) return cause.denial;
    cause = cause.cause;
  }
  return undefined;
}
