/**
 * `skillcell doctor`
 *
 * @module
 */
import { ENFORCED_FIELDS } from '../../vocabulary/capabilities.ts';
import { filesOf } from '../../inside.ts';
import { describePolicies } from '../explain.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printResult, table } from '../output.ts';
import { judgePairs, surroundings, verdictLines, type JudgedPair, type PairState } from '../verdict.ts';

export interface DoctorFlags {
  verbose?: boolean;
  json?: boolean;
}

export async function doctor(flags: DoctorFlags): Promise<number> {
  await using runtime = openRuntime();
  const verdict = judgePairs(await runtime.doctor(), surroundings());
  const { pairs, next } = verdict;
  const { home } = runtime;
  const policies = filesOf(runtime.policy);
  if (flags.json) {
    const node = { node: process.version, executable: process.execPath };
    printResult({ ...node, home, policies, next: next ?? null, pairs });
    return 0;
  }
  for (const line of verdictLines(verdict)) printLine(line);
  if (!flags.verbose) {
    printLine('\nSee every limit and what enforces it: skillcell doctor --verbose');
    return 0;
  }
  printLine(`\nNode ${process.version}, ${process.platform}-${process.arch}, home ${home}`);
  printLine(describePolicies(runtime));
  for (const pair of pairs) printLine(`\n${describePair(pair)}`);
  return 0;
}

const STATES: Readonly<Record<PairState, (pair: JudgedPair) => string>> = {
  available: () => 'available',
  partial: ({ refuses }) => `available without limits on ${refuses.join(', ')}`,
  unisolated: () => 'NO ISOLATION, only for trusted code',
  unavailable: () => 'NOT AVAILABLE',
};

function describePair(pair: JudgedPair): string {
  const state = STATES[pair.state](pair);
  const head = `${pair.mode.padEnd(10)}  ${state}: ${pair.wall} + ${pair.engine} (${pair.summary})`;
  const fix = pair.fix === undefined ? [] : [`  fix: ${pair.fix}`];
  // The summary already says why; a table of fields that are all unenforced adds nothing.
  if (pair.state === 'unavailable') return [head, ...fix].join('\n');
  const rows = ENFORCED_FIELDS.map((field) => [field, pair.enforces[field].by, pair.enforces[field].how]);
  return [head, ...fix, table(rows).replaceAll(/^/gm, '  ')].join('\n');
}
