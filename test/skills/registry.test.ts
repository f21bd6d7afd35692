/**
 * Every bundled skill, in every mode that it lists and this machine has: its cases end as they say, and modes agree. And
 * what cases cannot show: files that were written, and the unit tests that skills bring.
 */
import { execFile } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createRuntime,
  formatStudy,
  packageRoot,
  studyFolder,
  type SkillStudy,
  type StudyReport,
} from '../../src/index.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { bundled } from './copy-skill.ts';
import { makeFormPdf } from './make-form-pdf.ts';

const STUDY_MS = 300_000;
const UNITS_MS = 60_000;
const SKILLS = join(packageRoot(), 'skills');
/** What its author lists and a machine as ours has; a container needs an image that was built before. */
const RUNNABLE = new Set(['wasm', 'subprocess', 'in_process']);
/** Too large to be committed: they are built when somebody wants them. */
const BUILT_ON_DEMAND = new Set(['text/word_stats_go', 'text/word_stats_ts']);

const folder = openFolder();
const home = join(folder, 'home');
let report: StudyReport;

beforeAll(async () => {
  report = await studyFolder(SKILLS, { home, calls: 0 });
}, STUDY_MS);

afterAll(() => removeFolder(folder));

const BUNDLES = readdirSync(SKILLS, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^[^/]+\/[^/]+\/manifest\.yaml$/.test(path))
  .map((path) => path.replace('/manifest.yaml', ''))
  .toSorted();

function studied(path: string): SkillStudy {
  const found = report.skills.find((skill) => skill.path === path);
  if (!found) throw new Error(`"${path}" was not studied`);
  return found;
}

test('the study of all of them finds no failure, and its page says so', () => {
  expect(report.failures).toEqual([]);
  expect(report.skills.map(({ path }) => path)).toEqual(BUNDLES);
  expect(formatStudy(report)).toContain(`${BUNDLES.length} skills studied, nothing failed.`);
});

describe.each(BUNDLES.filter((path) => !BUILT_ON_DEMAND.has(path)))('%s', (path) => {
  test('works in every mode that it lists', () => {
    const listed = studied(path).modes.filter(({ mode, isListed }) => isListed && RUNNABLE.has(mode));
    expect(listed.length).toBeGreaterThan(0);
    for (const mode of listed) expect(mode).toMatchObject({ status: 'works', misfits: [] });
  });

  test('has cases that give results or are denied, and cases of bad input', () => {
    const mode = studied(path).modes.find(({ status }) => status === 'works');
    expect(mode?.fitting).toBeGreaterThanOrEqual(3);
    expect(readFileSync(bundled(`${path}/cases.json`), 'utf8')).toContain('"invalid_params"');
  });

  test('is locked, and tells a model what it is for', () => {
    expect(existsSync(bundled(`${path}/skill.lock`))).toBe(true);
    expect(readFileSync(bundled(`${path}/instructions.md`), 'utf8').length).toBeGreaterThan(200);
  });
});

describe('office/pdf_form_filler', () => {
  const sample = bundled('office/pdf_form_filler/sample/forms/registration.pdf');

  test('has a sample that is ours', () => {
    expect(readFileSync(sample).equals(makeFormPdf())).toBe(true);
  });

  test('writes a new file with the values and leaves the form alone', async () => {
    const workspace = join(folder, 'workspace');
    cpSync(bundled('office/pdf_form_filler/sample'), workspace, { recursive: true });
    chmodSync(join(workspace, 'filled'), 0o777);
    await using runtime = createRuntime({ home, audit: false });
    const skill = await runtime.load(bundled('office/pdf_form_filler'));
    const call = async (params: object): Promise<Filled> =>
      (await runtime.execute(skill, params, { workspace })).result as Filled;
    const values = { name: 'Grace Hopper', remarks: 'näher\nans Fenster', newsletter: true, ticket: 'Day' };
    await call({ action: 'fill', pdf: 'forms/registration.pdf', values, output: 'grace.pdf', lock: true });
    const written = readFileSync(join(workspace, 'filled/grace.pdf'));
    expect(written.subarray(0, 5).toString()).toBe('%PDF-');
    expect(written.includes('Grace Hopper')).toBe(true);
    expect(readFileSync(join(workspace, 'forms/registration.pdf')).equals(makeFormPdf())).toBe(true);
    const { fields } = await call({ action: 'list', pdf: 'filled/grace.pdf' });
    const found = Object.fromEntries(fields.map(({ name, value }) => [name, value]));
    expect(found).toMatchObject(values);
    expect(fields.every(({ read_only }) => read_only)).toBe(true);
    expect(readdirSync(join(workspace, 'filled')).toSorted()).toEqual(['README.txt', 'grace.pdf']);
  });
});

interface Filled {
  fields: { name: string; value: unknown; read_only: boolean }[];
}

/** Our own code; Python is told to leave nothing behind in the bundle, which is locked. */
test.each(BUNDLES.filter((path) => existsSync(bundled(`${path}/test_skill.py`))))(
  '%s passes its own tests',
  async (path) => {
    const args = ['-B', '-m', 'unittest', '-q', 'test_skill'];
    const { stderr } = await promisify(execFile)('/usr/bin/python3', args, { cwd: bundled(path) });
    expect(stderr).toMatch(/\nOK\n?$/);
  },
  UNITS_MS,
);
