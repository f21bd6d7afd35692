/**
 * `skillcell bench`
 *
 * @module
 */
import { runBench } from '../../../bench/runner/run-bench.ts';
import { formatReport } from '../../../bench/runner/table.ts';
import { runWasmBench } from '../../../bench/runner/wasm/run-wasm-bench.ts';
import { formatWasmReport } from '../../../bench/runner/wasm/table.ts';
import { SkillError } from '../../index.ts';
import { printLine, printResult } from '../output.ts';

export async function bench(flags: { rounds: string; seconds: string; json?: boolean }): Promise<number> {
  const settings = {
    rounds: positive(flags.rounds, '--rounds'),
    seconds: positive(flags.seconds, '--seconds'),
  };
  const subprocess = await runBench(settings);
  if (!flags.json) printLine(formatReport(subprocess));
  const wasm = await runWasmBench(settings);
  if (flags.json) printResult({ subprocess, wasm });
  else printLine(`\n${formatWasmReport(wasm)}`);
  return 0;
}

function positive(text: string, flag: string): number {
  const number = Number(text);
  if (number > 0 && number <= 10_000) return number;
  throw new SkillError('usage', `${flag} is "${text}", which is no number above 0 and up to 10000`, {
    fix: `Give a number, e.g. ${flag} 20.`,
  });
}
