/**
 * `skillcell tools`
 *
 * @module
 */
import { SkillError, shadowWarnings, type ToolFormat, printableLine } from '../../inside.ts';
import { checkOffer, openRuntime, type OfferFlags } from '../open-runtime.ts';
import { printLine, printNote, printResult, printWarning } from '../output.ts';

export interface ToolsFlags extends OfferFlags {
  format: ToolFormat;
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
  const set = await runtime.tools(format, isOffer ? undefined : refs);
  for (const { ref, reason } of set.skipped) printWarning(`Skipped ${ref}: ${reason}`);
  if (instructions) printLine(set.instructions);
  else printResult(set.tools);
  for (const { skill, path, what } of set.notes)
    printNote(printableLine(`${skill} ${path === '' ? '(root)' : path}: ${what}`));
  return 0;
}
