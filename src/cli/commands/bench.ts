/**
 * `skillcell bench`
 *
 * @module
 */
import { runBench, type BenchReport } from '../../../bench/runner/run-bench.ts';
import { formatReport } from '../../../bench/runner/table.ts';
import { runWasmBench, type WasmReport } from '../../../bench/runner/wasm/run-wasm-bench.ts';
import { formatWasmReport } from '../../../bench/runner/wasm/table.ts';
import { SkillError } from '../../index.ts';
import { printLine, printResult } from '../output.ts';

export interface BenchFlags {
  rounds: string;
  seconds: string;
  only?: 'subprocess' | 'wasm';
  json?: boolean;
}

export async function bench({ rounds, seconds, only, json }: BenchFlags): Promise<number> {
  const settings = { rounds: positive(rounds, '--rounds'), seconds: positive(seconds, '--seconds') };
  const reports: { subprocess?: BenchReport; wasm?: WasmReport } = {};
  if (only !== 'wasm') {
    reports.subprocess = await runBench(settings);
    if (!json) printLine(`${formatReport(reports.subprocess)}\n`);
  }
  if (only !== 'subprocess') {
    reports.wasm = await runWasmBench(settings);
    if (!json) printLine(formatWasmReport(reports.wasm));
  }
  if (json) printResult(reports);
  return 0;
}

function positive(text: string, flag: string): number {
  const number = Number(text);
  if (number > 0 && number <= 10_000) return number;
  throw new SkillError('usage', `${flag} is "${text}", which is no number above 0 and up to 10000`, {
    fix: `Give a number, e.g. ${flag} 20.`,
  });
}
