/**
 * `skillcell tools`
 *
 * @module
 */
import { printableLine, SkillError, type ToolFormat } from '../../index.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printNote, printResult, printWarning } from '../output.ts';

export interface ToolsFlags {
  format: ToolFormat;
  all?: boolean;
  instructions?: boolean;
}

export async function tools(refs: string[], { format, all, instructions }: ToolsFlags): Promise<number> {
  if (refs.length > 0 === (all === true)) {
    throw new SkillError('usage', 'Name the skills to offer, or give --all, not both', {
      fix: 'For example: skillcell tools text/word_stats --format openai',
    });
  }
  // Nothing runs, and what a tool may do is decided when it is called.
  await using runtime = openRuntime({ needsPolicy: false });
  const set = await runtime.tools(format, all ? undefined : refs);
  for (const { ref, reason } of set.skipped) printWarning(`${ref} is not offered: ${reason}`);
  if (instructions) printLine(set.instructions);
  else printResult(set.tools);
  for (const { skill, path, what } of set.notes)
    printNote(printableLine(`${skill} ${path === '' ? '(root)' : path}: ${what}`));
  return 0;
}
