/**
 * Studies the bundled skills in every mode of this machine and writes the result to `bench/results/`, where doc-tables.ts
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
import { buildBase, buildImage, formatStudy, studyFolder, type StudyReport } from '../src/inside.ts';
import { ROOT } from './steps.ts';

export interface BundledReport {
  machine: MachineFacts;
  study: StudyReport;
}

const TIMED_CALLS = 20;
/** The bundled skill that runs in a container. */
const CONTAINER_SKILL = 'compliance/example_skill';

async function main(): Promise<number> {
  const home = mkdtempSync(join(tmpdir(), 'study-bundled-'));
  // If we are root, cells run as another user, who must be able to reach the folder.
  chmodSync(home, 0o711);
  try {
    const machine = await readMachine(home, 'python-wasm');
    await makeImage(home);
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

/** Without the image the study continues, and reports it in place of the container. */
async function makeImage(home: string): Promise<void> {
  const onProgress = (text: string): void => console.error(text);
  try {
    await buildBase('python', { home, onProgress });
    await buildImage(CONTAINER_SKILL, { home, cwd: ROOT, onProgress });
  } catch (error) {
    console.error(`No image: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The location of the project is private. */
function withoutPlace(study: StudyReport): StudyReport {
  return JSON.parse(JSON.stringify({ ...study, folder: 'skills' }).replaceAll(ROOT, '')) as StudyReport;
}

if (import.meta.main) process.exitCode = await main();
