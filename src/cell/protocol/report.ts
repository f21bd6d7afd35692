/**
 * Default values for the report of a cell.
 *
 * @module
 */
import type { CellReport } from '../contract.ts';

const NOTHING_HAPPENED: Omit<CellReport, 'start'> = {
  started: false,
  reply: undefined,
  exit: undefined,
  killReason: undefined,
  denied: [],
  used: [],
  logs: '',
  logBytes: 0,
  resultBytes: 0,
  wallMs: 0,
  usage: { cpuMs: 0, memoryPeakBytes: 0 },
  fuel: 0,
  hostCalls: 0,
};

/** Completes a report with the values of a call in which nothing happened. */
export function cellReport(happened: Pick<CellReport, 'start'> & Partial<CellReport>): CellReport {
  return { ...NOTHING_HAPPENED, ...happened };
}
