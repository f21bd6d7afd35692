/**
 * The refusals of commands. Each says what can be run instead.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import type { FileDigests } from '../../load/bundle.ts';
import { quote, shellWord } from '../../manifest/quote.ts';

const SHOWN = 5;
const RUN_WITH: readonly (readonly [ending: RegExp, program: string])[] = [
  [/\.py$/, 'python'],
  [/\.(?:sh|bash)$/, 'bash'],
  [/\.(?:[cm]?js|[cm]?ts)$/, 'node'],
];

/** The command is wrong: no grant could make it run. */
export function unusable(message: string, fix: string, detail: Record<string, unknown> = {}): SkillError {
  return new SkillError('invalid_params', message, { fix, detail });
}

/** The command is right, but not granted. */
export function notGranted(asked: string, why: string, fix: string): SkillError {
  return new SkillError('capability_denied', `Refused to ${asked}: ${why}`, {
    fix,
    detail: { capability: 'process', asked, declared: why },
  });
}

export function noSuchFile(word: string, files: FileDigests): SkillError {
  return unusable(
    `The command names ${quote(word)}, which is not a file of the skill`,
    `Run a script of the skill${examples(files)}.`,
    { file: word },
  );
}

export function freeShell(program: string): SkillError {
  return notGranted(
    `run ${program} without a script of the skill`,
    'only scripts of the skill may run in a shell',
    'Run a script of the skill, such as bash scripts/x.sh, or pass Python code to python -.',
  );
}

export function unknownOption(program: string, option: string): SkillError {
  return unusable(
    `The option ${quote(option)} of ${program} cannot be used here`,
    `Leave it out: ${program} FILE ARGUMENTS.`,
    { option },
  );
}

/** Commands for some scripts of the bundle. */
function examples(files: FileDigests): string {
  const commands = Object.keys(files).flatMap((path) => {
    const [, program] = RUN_WITH.find(([ending]) => ending.test(path)) ?? [];
    return program === undefined ? [] : [`${program} ${shellWord(path)}`];
  });
  if (commands.length === 0) return '';
  const more = commands.length > SHOWN ? `, or one of ${commands.length - SHOWN} more` : '';
  return `: ${commands.slice(0, SHOWN).join(', ')}${more}`;
}
