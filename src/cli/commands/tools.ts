/**
 * `skillcell tools`
 *
 * @module
 */
import {
  SkillError,
  shadowWarnings,
  type ToolFormat,
  type Typings,
  printableLine,
  typingsFor,
} from '../../inside.ts';
import { TYPING_LANGUAGES, type TypingLanguage } from '../../vocabulary/typing-languages.ts';
import { checkOffer, openRuntime, type OfferFlags } from '../open-runtime.ts';
import { printLine, printNote, printResult, printWarning } from '../output.ts';

export interface ToolsFlags extends OfferFlags {
  format: ToolFormat | TypingLanguage;
  all?: boolean;
  instructions?: boolean;
}

export async function tools(refs: string[], flags: ToolsFlags): Promise<number> {
  const { format, all, skills, bundled, instructions } = flags;
  const isOffer = all === true || skills !== undefined || bundled === true;
  if (refs.length > 0 === isOffer) {
    throw new SkillError('usage', 'Pass either skills or --all', {
      fix: 'Run for example `skillcell tools text/word_stats --format openai`.',
    });
  }
  // Nothing runs here: grants are decided when a tool is called.
  await using runtime = openRuntime({ needsPolicy: false, skills, bundled });
  if (isOffer) {
    checkOffer(runtime, flags);
    for (const location of runtime.offered()) shadowWarnings(location).forEach(printWarning);
  }
  const selected = isOffer ? undefined : refs;
  if (isLanguage(format)) return typings(await typingsFor(format, runtime, selected), flags);
  const set = await runtime.tools(format, selected);
  for (const { ref, reason } of set.skipped) printWarning(`Skipped ${ref}: ${reason}`);
  if (instructions) printLine(set.instructions);
  else printResult(set.tools);
  for (const { skill, path, what } of set.notes)
    printNote(printableLine(`${skill} ${path === '' ? '(root)' : path}: ${what}`));
  return 0;
}

function typings({ text, skipped }: Typings, { instructions }: ToolsFlags): number {
  if (instructions)
    throw new SkillError('usage', 'Typings have no instructions', {
      fix: 'Leave out --instructions, or pass the --format of an API.',
    });
  for (const { ref, reason } of skipped) printWarning(`Skipped ${ref}: ${reason}`);
  printLine(text.trimEnd());
  return 0;
}

function isLanguage(format: ToolsFlags['format']): format is TypingLanguage {
  return Object.hasOwn(TYPING_LANGUAGES, format);
}
