/**
 * Writes overlays. Everything in the file that is not changed stays exactly as a person wrote it.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseDocument } from 'yaml';
import { SkillError } from '../errors.ts';
import { shellWord } from '../manifest/quote.ts';
import type { Bundle, OverlayPlace } from './bundle.ts';
import type { LockedPackages } from './locked-packages.ts';
import { overlayFile, overlayName, parseOverlay, readOverlayText, type OverlayPlaces } from './overlay.ts';
import { publishSync } from './publish.ts';

type Owned = Pick<Bundle, 'manifest' | 'digest' | 'origin' | 'overlay' | 'sourceDir'>;

/** The file to change, and its text now or as it would begin. */
export interface OverlayDraft {
  file: string;
  place: OverlayPlace;
  /** Empty for a new file. */
  before: string;
  text: string;
}

/** The overlay that counts; else one in the project for a skill of the project, or in Skillcell's own folder. */
export function draftOverlay(bundle: Owned, places: OverlayPlaces): OverlayDraft {
  const { manifest, digest, origin, overlay, sourceDir } = bundle;
  const place = overlay?.place ?? (origin === 'project' ? 'project' : 'home');
  const file = overlayFile(manifest.name, place, places);
  const before = readOverlayText(file) ?? '';
  if (before === '') {
    const text = `skill: ${overlayName(manifest.name)}\ndigest: ${digest}\n`;
    return { file, place, before, text };
  }
  if (parseOverlay(before, { file, place }).digest !== digest) throw forOtherFiles(file, sourceDir);
  return { file, place, before, text: before };
}

/** The text with these packages; permissions stay. */
export function withPackages(
  text: string,
  { requirements, packages }: { requirements: readonly string[]; packages: LockedPackages | undefined },
): string {
  const document = parseDocument(text, { version: '1.2', schema: 'core' });
  document.set('requirements', [...requirements]);
  if (packages) document.set('packages', packages);
  else document.delete('packages');
  return document.toString({ lineWidth: 0 });
}

/** The text, bound to other files. */
export function withDigest(text: string, digest: string): string {
  const document = parseDocument(text, { version: '1.2', schema: 'core' });
  document.set('digest', digest);
  return document.toString({ lineWidth: 0 });
}

/** Throws `manifest_invalid` instead of writing something that could not be read again. */
export function saveOverlay({ file, place, text }: Omit<OverlayDraft, 'before'>): void {
  parseOverlay(text, { file, place });
  const mode = place === 'home' ? 0o600 : 0o644;
  mkdirSync(dirname(file), { recursive: true, mode: place === 'home' ? 0o700 : 0o755 });
  publishSync(file, (draft) => writeFileSync(draft, text, { mode, flag: 'wx' }));
}

/** Binding it to the new files would renew permissions that nobody looked at. */
function forOtherFiles(file: string, sourceDir: string): SkillError {
  return new SkillError(
    'manifest_drift',
    `The overlay ${JSON.stringify(file)} is for other files of the skill than these`,
    {
      fix: `Review it and bind it to these: skillcell approve --renew ${shellWord(sourceDir)}. Or remove it.`,
      detail: { file },
    },
  );
}
