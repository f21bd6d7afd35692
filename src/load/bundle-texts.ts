/**
 * Reads the texts in which a bundle describes itself: its manifest and its instructions.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { ParsedManifest } from '../manifest/manifest.ts';
import { addToManifest } from '../manifest/add-to-manifest.ts';
import { AUTHORS_FILE, parseAuthorsFile } from '../manifest/fragment.ts';
import { parseManifest } from '../manifest/parse.ts';
import { parseSkillMd, parseSkillMdWithManifest, splitSkillMd } from '../manifest/skill-md.ts';

/** Instructions go into a model's context, so their size is capped. */
export const MAX_INSTRUCTIONS: number = 256 * 1024;

type Contents = ReadonlyMap<string, Buffer>;

export interface Description extends ParsedManifest {
  instructions?: string;
}

/** Reads manifest.yaml, SKILL.md or both from the files of the bundle in `folder`. */
export function readDescription(contents: Contents, folder: string): Description {
  refuseLong(contents, 'SKILL.md');
  const skillMd = textOf(contents, 'SKILL.md');
  const manifest = textOf(contents, 'manifest.yaml');
  const asked = skillMd === undefined ? undefined : textOf(contents, AUTHORS_FILE);
  const parsed = withAsked(parse({ manifest, skillMd }, folder), asked, manifest !== undefined);
  const instructions = readInstructions(contents, skillMd);
  return { ...parsed, ...(instructions === undefined ? {} : { instructions }) };
}

function parse(
  texts: { manifest?: string | undefined; skillMd?: string | undefined },
  folder: string,
): ParsedManifest {
  const { manifest, skillMd } = texts;
  if (manifest !== undefined && skillMd !== undefined) {
    return parseSkillMdWithManifest({ manifest, skillMd }, { file: 'manifest.yaml', folder });
  }
  if (manifest !== undefined) return parseManifest(manifest, { file: 'manifest.yaml', folder });
  if (skillMd !== undefined) return parseSkillMd(skillMd, { file: 'SKILL.md', folder });
  throw invalid('manifest.yaml', 'The bundle has neither a manifest.yaml nor a SKILL.md.');
}

/** An author who has no manifest.yaml may ask for permissions in a smaller file; it counts as the declaration. */
function withAsked(parsed: ParsedManifest, text: string | undefined, hasManifest: boolean): ParsedManifest {
  if (text === undefined) return parsed;
  if (hasManifest) {
    const warning = `The file "${AUTHORS_FILE}" has no effect beside a manifest.yaml.`;
    return { ...parsed, warnings: [...parsed.warnings, warning] };
  }
  const { fragment, warnings } = parseAuthorsFile(text);
  const { requirements, declaresCapabilities } = fragment;
  const manifest = { ...addToManifest(parsed.manifest, fragment), requirements, declaresCapabilities };
  return { manifest, warnings: [...parsed.warnings, ...warnings] };
}

function readInstructions(contents: Contents, skillMd: string | undefined): string | undefined {
  const file = contents.has('instructions.md') || skillMd === undefined ? 'instructions.md' : 'SKILL.md';
  refuseLong(contents, file);
  return file === 'SKILL.md' && skillMd !== undefined
    ? splitSkillMd(skillMd, file).body
    : textOf(contents, file);
}

function refuseLong(contents: Contents, file: string): void {
  if ((contents.get(file)?.length ?? 0) > MAX_INSTRUCTIONS)
    throw invalid(file, `The file "${file}" is longer than ${MAX_INSTRUCTIONS} bytes.`);
}

function textOf(contents: Contents, file: string): string | undefined {
  const bytes = contents.get(file);
  if (bytes === undefined) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalid(file, `The file "${file}" is not UTF-8 text.`, cause);
  }
}

function invalid(file: string, message: string, cause?: unknown): SkillError {
  return new SkillError('manifest_invalid', message, {
    fix: `Correct the file "${file}" of the bundle. It must be plain UTF-8 text.`,
    detail: { file },
    cause,
  });
}
