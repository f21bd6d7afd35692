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
  /** Of those that passed: which ones had failed before, and how. */
  readonly secondTries: readonly string[];
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { readonly assertionResults: readonly TestResult[] }[];
}

interface TestResult {
  readonly fullName: string;
  readonly status: string;
  /** Of a test that passed: what went wrong in its first try. */
  readonly failureMessages: readonly string[];
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
  if (report === undefined) return { passed: 0, failed: 1, secondTries: [] };
  const skipped = report.numPendingTests + report.numTodoTests;
  const failed = report.numFailedTests + skipped;
  if (skipped > 0) console.log(`${skipped} skipped tests count as failed: a test runs or does not exist.`);
  // A file that does not load, or an error outside every test, has no failed test to show for it.
  return {
    passed: report.numPassedTests,
    failed: succeeded ? failed : Math.max(failed, 1),
    secondTries: secondTries(report),
  };
}

function secondTries({ testResults }: Report): string[] {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  return tests
    .filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0)
    .map(({ fullName, failureMessages }) => `${fullName}\n${failureMessages.join('\n')}\n`);
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    console.log('vitest ended without a report.');
    return undefined;
  }
}
