/**
 * Who asks for each capability of a call: the bundle itself, the overlay beside it, or the person who makes the call.
 *
 * @module
 */
import { capabilitySet } from '../load/capability-set.ts';
import { manifestOfCall, type GivenBundle, type GivenToCall } from './skill-grants.ts';

/** A line of the capability set, and where it comes from. */
export interface CapabilitySource {
  capability: string;
  source: 'bundle' | 'overlay' | 'call';
  /** The overlay. */
  file?: string;
}

export function capabilitySources(bundle: GivenBundle, given: GivenToCall): CapabilitySource[] {
  const { manifest, overlay } = bundle;
  const own = new Set(capabilitySet(overlay?.base ?? manifest));
  const declared = new Set(capabilitySet(manifest));
  return capabilitySet(manifestOfCall(bundle, given)).map((capability): CapabilitySource => {
    if (own.has(capability)) return { capability, source: 'bundle' };
    if (!overlay || !declared.has(capability)) return { capability, source: 'call' };
    return { capability, source: 'overlay', file: overlay.file };
  });
}
