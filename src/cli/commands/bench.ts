/**
 * `skillcell bench`
 *
 * @module
 */
import { runBench } from '../../../bench/runner/run-bench.ts';
import { formatReport } from '../../../bench/runner/table.ts';
import { SkillError } from '../../index.ts';
import { printLine, printResult } from '../output.ts';

export async function bench(flags: { rounds: string; seconds: string; json?: boolean }): Promise<number> {
  const report = await runBench({
    rounds: positive(flags.rounds, '--rounds'),
    seconds: positive(flags.seconds, '--seconds'),
  });
  if (flags.json) printResult(report);
  else printLine(formatReport(report));
  return 0;
}

function positive(text: string, flag: string): number {
  const number = Number(text);
  if (number > 0 && number <= 10_000) return number;
  throw new SkillError('usage', `${flag} is "${text}", which is no number above 0 and up to 10000`, {
    fix: `Give a number, e.g. ${flag} 20.`,
  });
}
