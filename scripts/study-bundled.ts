/**
 * Studies the bundled skills in every mode of this machine and keeps the result in `bench/results/`, where doc-tables.ts
 * reads it:
 *
 *     node scripts/study-bundled.ts
 *
 * @module
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { currentLoad, readMachine, type MachineFacts } from '../bench/runner/machine.ts';
import { saveResult } from '../bench/saved-results.ts';
import { formatStudy, studyFolder, type StudyReport } from '../src/index.ts';
import { ROOT } from './steps.ts';

export interface BundledReport {
  machine: MachineFacts;
  study: StudyReport;
}

const TIMED_CALLS = 20;

async function main(): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), 'study-bundled-'));
  // Cells run as another user when we are root, and have to pass through.
  chmodSync(home, 0o711);
  try {
    const machine = await readMachine(home, 'python-wasm');
    const study = await studyFolder(join(ROOT, 'skills'), {
      home,
      calls: TIMED_CALLS,
      onSkill: (path) => console.error(`studying ${path}`),
    });
    const report = { machine: { ...machine, loadAtEnd: currentLoad() }, study: withoutPlace(study) };
    console.log(formatStudy(report.study));
    console.error(`Written to ${saveResult(report, 'study')}`);
    return study.failures.length === 0 ? 0 : 1;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Where the project lies is nobody's business. */
function withoutPlace(study: StudyReport): StudyReport {
  return JSON.parse(JSON.stringify({ ...study, folder: 'skills' }).replaceAll(ROOT, '')) as StudyReport;
}

if (import.meta.main) process.exitCode = await main();
