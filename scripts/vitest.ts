/**
 * Runs the test suites and counts them.
 *
 * @module
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTool } from './steps.ts';

/** How many checks ended how. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
}

/** Runs all suites but those that match `excluded`. */
export function runSuites(excluded: readonly string[]): Tally {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-report-'));
  try {
    const file = join(folder, 'report.json');
    const succeeded = runTool('vitest', [
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
      ...excluded.map((glob) => `--exclude=${glob}`),
    ]);
    return tally(readReport(file), succeeded);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function tally(report: Report | undefined, succeeded: boolean): Tally {
  if (report === undefined) return { passed: 0, failed: 1 };
  const skipped = report.numPendingTests + report.numTodoTests;
  const failed = report.numFailedTests + skipped;
  if (skipped > 0) console.log(`${skipped} skipped tests count as failed: a test runs or does not exist.`);
  // A file that does not load, or an error outside every test, has no failed test to show for it.
  return { passed: report.numPassedTests, failed: succeeded ? failed : Math.max(failed, 1) };
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    console.log('vitest ended without a report.');
    return undefined;
  }
}
