/**
 * `skillcell build`
 *
 * @module
 */
import {
  type Built,
  type BuiltImage,
  SkillError,
  buildBase,
  buildImage,
  buildSkill,
  formatSize,
  isCompiled,
  shellWord,
} from '../../inside.ts';
import { printAnswer, printLine, printNote, printResult } from '../output.ts';

interface JsonFlag {
  json?: boolean;
}

const onProgress = (text: string): void => printNote(text);

export interface BuildFlags extends JsonFlag {
  base?: string;
  with?: string[];
  name?: string;
}

export async function build(ref: string | undefined, options: BuildFlags): Promise<number> {
  if ((ref === undefined) === (options.base === undefined)) {
    throw new SkillError('usage', 'Pass either a skill or --base', {
      fix: 'Run for example `skillcell build ./my_skill` or `skillcell build --base python`.',
    });
  }
  if (options.base === undefined && (options.with ?? options.name) !== undefined)
    throw new SkillError('usage', '--with and --name are for --base', {
      fix: 'Add --base python, or leave them out.',
    });
  if (options.base !== undefined) await base(options.base, options);
  if (ref !== undefined) await skill(ref, options);
  return 0;
}

async function base(language: string, { json, name, with: added }: BuildFlags): Promise<void> {
  const options = { onProgress, packages: added, name };
  const { reference, digest, bytes, packages } = await buildBase(language, options);
  const text = `Built ${reference} from ${packages.length} Debian packages: ${formatSize(bytes)}, ${digest}`;
  printAnswer(json, { base: { reference, digest, bytes, packages } }, text);
}

/** A skill may have both: a binary for Wasm, and an image for machines that have containers. */
async function skill(ref: string, { json }: JsonFlag): Promise<void> {
  const binary = isCompiled(ref) ? buildSkill(ref, { onProgress }) : undefined;
  if (binary && !json) printBinary(binary, ref);
  const image = await buildImage(ref, { onProgress });
  if (image && !json) printImage(image, ref);
  // Reports that there is nothing to build.
  if (!image && !binary) buildSkill(ref);
  if (json) printResult({ ok: true, ...(binary ? { binary } : {}), ...(image ? { image } : {}) });
}

function printBinary({ language, file, bytes, digest }: Built, ref: string): void {
  printLine(`Built ${file} from ${language}: ${formatSize(bytes)}, ${digest}`);
  printNote(
    `An existing skill.lock is now outdated. To update it: skillcell lock ${shellWord(ref)}\nRun it: skillcell run ${shellWord(ref)}`,
  );
}

const LOCK_NOTES: Record<BuiltImage['lock'], string> = {
  written: 'skill.lock pins this digest.',
  kept: 'skill.lock was not changed; the image is found by the digest of the skill.',
  stale: 'skill.lock no longer matches the skill. To update it: skillcell lock ',
};

function printImage({ reference, digest, lock }: BuiltImage, ref: string): void {
  printLine(`Image of ${reference}: ${digest}`);
  printNote(LOCK_NOTES[lock] + (lock === 'stale' ? shellWord(ref) : ''));
}
