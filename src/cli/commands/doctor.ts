/**
 * `skillcell doctor`
 *
 * @module
 */
import type { PairReport } from '../../index.ts';
import { describePolicies } from '../explain.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printResult, table } from '../output.ts';

export async function doctor(flags: { json?: boolean }): Promise<number> {
  await using runtime = openRuntime();
  const pairs = await runtime.doctor();
  if (flags.json) {
    printResult({ node: process.version, home: runtime.home, policies: runtime.policyFiles, pairs });
    return 0;
  }
  printLine(`Node ${process.version}, ${process.platform}-${process.arch}, home ${runtime.home}`);
  printLine(describePolicies(runtime));
  for (const pair of pairs) printLine(`\n${describePair(pair)}`);
  return 0;
}

function describePair(pair: PairReport): string {
  const state = pair.available ? 'available' : 'NOT AVAILABLE';
  const head = `${pair.mode.padEnd(10)}  ${state}: ${pair.wall} + ${pair.engine} (${pair.summary})`;
  const fix = pair.fix === undefined ? [] : [`  fix: ${pair.fix}`];
  // What cannot run enforces nothing, field by field, for the reason that is already said.
  if (!pair.available) return [head, ...fix].join('\n');
  const rows = Object.entries(pair.enforces).map(([field, { by, how }]) => [field, by, how]);
  return [head, ...fix, table(rows).replaceAll(/^/gm, '  ')].join('\n');
}
