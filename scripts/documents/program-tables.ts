/**
 * The bench of programs as a Markdown table.
 *
 * @module
 */
import { PROGRAM_PEER_NOTES } from '../../bench/runner/programs/peers.ts';
import type { ProgramReport } from '../../bench/runner/programs/run-program-bench.ts';
import { table } from '../skillware-table.ts';

const NOTES: Readonly<Record<string, string>> = PROGRAM_PEER_NOTES;

export function formatProgramCalls({ rows }: ProgramReport): string {
  return table([
    ['ms', 'median', 'p95', ''],
    ...rows.map(({ name, median, p95 }) => [name, median.toFixed(2), p95.toFixed(2), NOTES[name] ?? '']),
  ]);
}
