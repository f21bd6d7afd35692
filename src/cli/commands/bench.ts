/**
 * `skillcell bench`
 *
 * @module
 */
import { runContainerBench } from '../../../bench/runner/container/run-container-bench.ts';
import { formatContainerReport } from '../../../bench/runner/container/table.ts';
import { runGatewayBench } from '../../../bench/runner/gateway/run-gateway-bench.ts';
import { formatGatewayReport } from '../../../bench/runner/gateway/table.ts';
import { runBench, type BenchOptions } from '../../../bench/runner/run-bench.ts';
import { formatReport } from '../../../bench/runner/table.ts';
import { runPythonWasmBench } from '../../../bench/runner/python-wasm/run-python-wasm-bench.ts';
import { formatPythonWasmReport } from '../../../bench/runner/python-wasm/table.ts';
import { runWasmBench } from '../../../bench/runner/wasm/run-wasm-bench.ts';
import { formatWasmReport } from '../../../bench/runner/wasm/table.ts';
import { SkillError } from '../../inside.ts';
import { BENCHES, type BenchName } from '../../vocabulary/command-choices.ts';
import { namesOf } from '../../vocabulary/table.ts';
import { printLine, printResult } from '../output.ts';

export interface BenchFlags {
  rounds: string;
  seconds: string;
  only?: BenchName;
  json?: boolean;
}

type Settings = Pick<BenchOptions, 'rounds' | 'seconds'>;
type Bench = (settings: Settings) => Promise<{ report: unknown; text: string }>;

function benchOf<Report>(
  run: (settings: Settings) => Promise<Report>,
  format: (report: Report) => string,
): Bench {
  return async (settings) => {
    const report = await run(settings);
    return { report, text: format(report) };
  };
}

const RUNS: Readonly<Record<BenchName, Bench>> = {
  subprocess: benchOf(runBench, formatReport),
  wasm: benchOf(runWasmBench, formatWasmReport),
  'python-wasm': benchOf(runPythonWasmBench, formatPythonWasmReport),
  container: benchOf(runContainerBench, formatContainerReport),
  gateway: benchOf(runGatewayBench, formatGatewayReport),
};

export async function bench({ rounds, seconds, only, json }: BenchFlags): Promise<number> {
  const settings = { rounds: positive(rounds, '--rounds'), seconds: positive(seconds, '--seconds') };
  const reports: Partial<Record<BenchName, unknown>> = {};
  for (const name of only === undefined ? usualBenches() : [only]) {
    const { report, text } = await RUNS[name](settings);
    reports[name] = report;
    if (!json) printLine(`${text}\n`);
  }
  if (json) printResult(reports);
  return 0;
}

function usualBenches(): BenchName[] {
  return namesOf(BENCHES).filter((name) => !BENCHES[name].onRequest);
}

function positive(text: string, flag: string): number {
  const number = Number(text);
  if (number > 0 && number <= 10_000) return number;
  throw new SkillError('usage', `${flag} "${text}" is not a number above 0 and up to 10000`, {
    fix: `Pass a number, such as ${flag} 20.`,
  });
}
