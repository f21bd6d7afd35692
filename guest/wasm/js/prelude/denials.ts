/**
 * Operations that were not granted, as errors that name the operation.
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

/** An undeclared operation. */
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

/** Reports it to the host, once per denial. */
export function note(kind: 'denied' | 'used', { capability, asked, declared }: Denial): void {
  const text = [kind, capability, asked.replaceAll('\n', '?'), declared].join('\n');
  if (reported.has(text)) return;
  reported.add(text);
  host.note(text);
}

/** The denial that led to this error, following `cause`. */
export function denialBehind(error: unknown): Denial | undefined {
  let cause: unknown = error;
  for (let left = MAX_CAUSES; left > 0 && cause instanceof Error; left--) {
    if (cause instanceof CapabilityDenied) return cause.denial;
    cause = cause.cause;
  }
  return undefined;
}
