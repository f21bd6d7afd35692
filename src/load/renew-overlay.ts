/**
 * Binds an overlay of earlier files to the present ones, for a person to review. Nothing is written here.
 *
 * @module
 */
import type { Bundle } from './bundle.ts';
import {
  applyOverlay,
  isAccepted,
  parseOverlay,
  readOverlays,
  readOverlayText,
  type OverlayPlaces,
} from './overlay.ts';
import { withDigest, type OverlayDraft } from './write-overlay.ts';

export interface Renewal extends OverlayDraft {
  /** The bundle as it would be with the overlay. */
  bundle: Bundle;
}

/** Undefined if no overlay was written for earlier files, or one fits the current files. */
export function renewal(bundle: Bundle, places: OverlayPlaces): Renewal | undefined {
  if (bundle.kind !== 'script' || bundle.overlay) return undefined;
  const stale = readOverlays(bundle.manifest.name, places).find(({ digest }) => digest !== bundle.digest);
  if (!stale) return undefined;
  const { file, place } = stale;
  const before = readOverlayText(file) ?? '';
  const text = withDigest(before, bundle.digest);
  const overlay = parseOverlay(text, { file, place });
  const { manifest, packages, applied } = applyOverlay(bundle, {
    overlay,
    isAccepted: isAccepted(overlay, places),
    warnings: [],
  });
  const renewed: Bundle = {
    ...bundle,
    manifest,
    ...(packages ? { lockedPackages: packages } : {}),
    ...(applied ? { overlay: applied } : {}),
  };
  return { file, place, before, text, bundle: renewed };
}
