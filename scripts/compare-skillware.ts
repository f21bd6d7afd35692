/**
 * Studies the bundles of a Skillware checkout: the answer of Skillware's own loader to a sample is the expected answer in
 * every mode here. Prints the study as Markdown, and writes it to `bench/results/`, where doc-tables.ts reads it:
 *
 *     node scripts/compare-skillware.ts <folder with skillware/ and skills/> [--home <folder to keep packages in>]
 *
 * @module
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { currentLoad, readMachine, type MachineFacts } from '../bench/runner/machine.ts';
import { saveResult } from '../bench/saved-results.ts';
import { createRuntime } from '../src/index.ts';
import { formatCases, formatStudy, studyFolder, type StudyReport } from '../src/inside.ts';
import { PYODIDE } from '../src/cell/engines/python-wasm/pyodide.ts';
import { findInterpreter } from '../src/cell/engines/python/interpreter.ts';
import { openReference } from './skillware-reference.ts';
import { SAMPLES } from './skillware-samples.ts';

export interface SkillwareReport {
  machine: MachineFacts;
  skillware: string;
  python: { subprocess: string; wasm: string };
  study: StudyReport;
}

/** Packages of bundles are large, and some run long before they fail. */
const SECONDS_PER_SKILL = 300;
const TIMED_CALLS = 20;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { home: { type: 'string' } },
    allowPositionals: true,
  });
  const checkout = resolve(positionals[0] ?? '');
  if (positionals.length !== 1 || !['skills', 'skillware'].every((name) => isFolder(join(checkout, name)))) {
    console.error('Pass a folder with skillware/ and skills/: a checkout, or an unpacked sdist or wheel.');
    return 2;
  }
  const temp = mkdtempSync(join(tmpdir(), 'compare-skillware-'));
  // If we are root, cells run as another user, who must be able to reach the folder.
  chmodSync(temp, 0o711);
  try {
    const home = resolve(values.home ?? join(temp, 'home'));
    const machine = await readMachine(home, 'python-wasm');
    const cases = await writeCases(checkout, temp);
    const study = await studyFolder(join(checkout, 'skills'), {
      cases,
      home,
      calls: TIMED_CALLS,
      secondsPerSkill: SECONDS_PER_SKILL,
      onSkill: (path) => console.error(`studying ${path}`),
    });
    const python = { subprocess: findInterpreter()?.version ?? 'none', wasm: PYODIDE.python };
    const report: SkillwareReport = {
      machine: { ...machine, loadAtEnd: currentLoad() },
      skillware: versionOf(checkout),
      python,
      study: withoutPlace(study, checkout),
    };
    console.error(`Written to ${saveResult(report, 'skillware')}`);
    console.log(formatStudy(report.study));
    return study.failures.length === 0 ? 0 : 1;
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** The location of the checkout is private. */
function withoutPlace(study: StudyReport, checkout: string): StudyReport {
  const text = JSON.stringify({ ...study, folder: 'Skillware' });
  return JSON.parse(text.replaceAll(checkout, '…')) as StudyReport;
}

/** A file of cases for each bundle that has samples, in the folder layout of `study`. */
async function writeCases(checkout: string, temp: string): Promise<string> {
  const folder = join(temp, 'cases');
  await using runtime = createRuntime({ home: join(temp, 'reading'), audit: false });
  const requirements: string[] = [];
  for (const name of Object.keys(SAMPLES)) {
    const { bundle } = await runtime.load(join(checkout, 'skills', name));
    requirements.push(...bundle.manifest.requirements);
  }
  const reference = openReference({ checkout, temp, requirements });
  for (const [name, samples] of Object.entries(SAMPLES)) {
    const file = join(folder, `${name}.json`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, formatCases(reference(join(checkout, 'skills', name), samples)));
  }
  return folder;
}

function versionOf(checkout: string): string {
  const text = readFileSync(join(checkout, 'pyproject.toml'), 'utf8');
  return /^version = "(.*)"$/m.exec(text)?.[1] ?? 'unknown';
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

if (import.meta.main) process.exitCode = await main();
