/**
 * Runs the test suites and counts them.
 *
 * @module
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Gear } from './gears.ts';
import { runTool } from './steps.ts';

/** Number of checks by result. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  /** Tests that passed only on the retry, with their first failure. */
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
  /** For a test that passed: the error of its first try. */
  readonly failureMessages: readonly string[];
}

export interface SuiteChoice {
  readonly gears: readonly Gear[];
  /** Globs of test files to skip. */
  readonly excluded: readonly string[];
}

export function runSuites({ gears, excluded }: SuiteChoice): Tally {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-report-'));
  try {
    const file = join(folder, 'report.json');
    const env = { ...process.env, SKILLCELL_GEARS: gears.join() };
    const args = [
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
      ...excluded.map((glob) => `--exclude=${glob}`),
    ];
    const succeeded = runTool('vitest', args, { env });
    return tally(readReport(file), succeeded);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function tally(report: Report | undefined, succeeded: boolean): Tally {
  if (report === undefined) return { passed: 0, failed: 1, secondTries: [] };
  const skipped = report.numPendingTests + report.numTodoTests;
  const failed = report.numFailedTests + skipped;
  if (skipped > 0) console.log(`${skipped} skipped tests count as failed: remove a test that cannot run.`);
  // A file that does not load, or an error outside every test, is not a failed test in the report.
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
    console.log('vitest exited without a report.');
    return undefined;
  }
}
