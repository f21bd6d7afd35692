/**
 * `skillcell build`
 *
 * @module
 */
import {
  buildBase,
  buildImage,
  buildSkill,
  formatSize,
  isCompiled,
  SkillError,
  type BuiltImage,
} from '../../index.ts';
import { printLine, printNote } from '../output.ts';

const onProgress = process.stderr.isTTY ? printNote : undefined;

export async function build(ref: string | undefined, options: { base?: string }): Promise<number> {
  if ((ref === undefined) === (options.base === undefined)) {
    throw new SkillError('usage', 'Name a skill or --base, one of both', {
      fix: 'For example: skillcell build ./my_skill, or: skillcell build --base python',
    });
  }
  if (options.base !== undefined) await base(options.base);
  if (ref !== undefined) await skill(ref);
  return 0;
}

async function base(name: string): Promise<void> {
  const { reference, digest, bytes, packages } = await buildBase(name, { onProgress });
  printLine(`Built ${reference} from ${packages.length} Debian packages: ${formatSize(bytes)}, ${digest}`);
}

/** A skill may have both: a binary for Wasm, and an image for machines that have containers. */
async function skill(ref: string): Promise<void> {
  const compiled = isCompiled(ref);
  if (compiled) compile(ref);
  const image = await buildImage(ref, { onProgress });
  if (image) printImage(image);
  // Says that there is nothing to build.
  else if (!compiled) compile(ref);
}

function compile(ref: string): void {
  const { language, file, bytes, digest } = buildSkill(ref);
  printLine(`Built ${file} from ${language}: ${formatSize(bytes)}, ${digest}`);
  printNote('A lock that was written before no longer fits; write it anew with `skillcell lock`.');
}

const LOCK_WORDS: Record<BuiltImage['lock'], string> = {
  written: 'skill.lock pins this digest.',
  kept: 'The lock of this skill is left as it came; the image is known by the digest of the skill.',
  stale: 'skill.lock does not fit the skill any more; write it anew with `skillcell lock`.',
};

function printImage({ reference, digest, lock }: BuiltImage): void {
  printLine(`Image of ${reference}: ${digest}`);
  printNote(LOCK_WORDS[lock]);
}
