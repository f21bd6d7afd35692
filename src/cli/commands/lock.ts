/**
 * `skillcell lock`
 *
 * @module
 */
import { printableLine, shellWord } from '../../inside.ts';
import { openRuntime } from '../open-runtime.ts';
import { printAnswer, printLine, printNote } from '../output.ts';

export async function lock(ref: string, flags: { json?: boolean } = {}): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  const { file, changes, unpinned } = await runtime.writeLock(ref);
  printAnswer(flags.json, { file, changes, unpinned }, `Wrote ${printableLine(file)}`);
  if (flags.json) return 0;
  for (const change of changes) printLine(`skill.lock: ${printableLine(change)}`);
  if (unpinned.length > 0)
    printNote(
      `It does not pin the packages for ${printableLine(unpinned.join(', '))}, because they are not installed. Run: skillcell install ${shellWord(ref)}`,
    );
  return 0;
}
