/**
 * Writes overlays. Everything in the file that is not changed stays exactly as a person wrote it.
 *
 * @module
 */
import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseDocument } from 'yaml';
import { SkillError } from '../errors.ts';
import { setIn } from '../manifest/edit-sentences.ts';
import { shellWord } from '../manifest/quote.ts';
import type { Bundle, OverlayPlace } from './bundle.ts';
import type { LockedPackages } from './locked-packages.ts';
import { overlayFile, overlayName, parseOverlay, readOverlayText, type OverlayPlaces } from './overlay.ts';
import { publishSync } from './publish.ts';

/** The overlay that a person has to change, with sentences that can be followed word by word. */
export interface OverlayToEdit {
  file: string;
  before: readonly string[];
  after: readonly string[];
}

type Owned = Pick<Bundle, 'manifest' | 'digest' | 'origin' | 'overlay' | 'sourceDir'>;

/** The file to change, and its text now or as it would begin. */
export interface OverlayDraft {
  file: string;
  place: OverlayPlace;
  /** Empty for a new file. */
  before: string;
  text: string;
}

function placeOf(
  { manifest, origin, overlay }: Owned,
  places: OverlayPlaces,
): Pick<OverlayDraft, 'file' | 'place'> {
  const place = overlay?.place ?? (origin === 'project' ? 'project' : 'home');
  return { file: overlayFile(manifest.name, place, places), place };
}

/** The overlay that counts; else one in the project for a skill of the project, or in Skillcell's own folder. */
export function draftOverlay(bundle: Owned, places: OverlayPlaces): OverlayDraft {
  const { manifest, digest, sourceDir } = bundle;
  const { file, place } = placeOf(bundle, places);
  const before = readOverlayText(file) ?? '';
  if (before === '') {
    const text = `skill: ${overlayName(manifest.name)}\ndigest: ${digest}\n`;
    return { file, place, before, text };
  }
  if (parseOverlay(before, { file, place }).digest !== digest) throw forOtherFiles(file, sourceDir);
  return { file, place, before, text: before };
}

/** How a person changes the overlay of these files by hand: what comes before and after the change itself. */
export function overlayToEdit(bundle: Owned, places: OverlayPlaces): OverlayToEdit {
  const approve = `Then run \`skillcell approve ${shellWord(bundle.sourceDir)}\`.`;
  const edit = (file: string, place: OverlayPlace, before: readonly string[]): OverlayToEdit => ({
    file,
    before,
    after: place === 'project' ? [approve] : [],
  });
  try {
    const { file, place, before } = draftOverlay(bundle, places);
    const name = JSON.stringify(overlayName(bundle.manifest.name));
    const isNew = before === '';
    return edit(
      file,
      place,
      isNew ? [setIn('skill', file, name), setIn('digest', file, JSON.stringify(bundle.digest))] : [],
    );
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    const { file } = placeOf(bundle, places);
    return edit(file, 'project', [error.fix]);
  }
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
  if (place === 'project') assertOwnFolders(file);
  mkdirSync(dirname(file), { recursive: true, mode: place === 'home' ? 0o700 : 0o755 });
  publishSync(file, (draft) => writeFileSync(draft, text, { mode, flag: 'wx' }));
}

/** A clone may contain links, and one to the operator's own overlays would make what it asks for count at once. */
function assertOwnFolders(file: string): void {
  for (const folder of [dirname(dirname(file)), dirname(file)]) {
    if (!lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) continue;
    throw new SkillError(
      'manifest_invalid',
      `Refused to write the overlay ${JSON.stringify(file)}: ${JSON.stringify(folder)} is a symbolic link`,
      { fix: `Replace ${JSON.stringify(folder)} by a folder.`, detail: { file, folder } },
    );
  }
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
