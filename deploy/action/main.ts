/**
 * The script of the action: checks every skill of a repository, and compares it with a base commit.
 *
 * Reads its inputs from `SKILLCELL_*` variables (see action.yml); needs no network and no token of GitHub.
 *
 * @module
 */
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { packageVersion } from '../../src/inside.ts';
import { annotationOf } from './annotations.ts';
import { Examiner } from './examine.ts';
import { commitOf, skillFolders } from './git.ts';
import { markdownOf } from './markdown.ts';
import { hasErrors, type SkillReport } from './report.ts';
import { sarifOf } from './sarif.ts';

export interface Inputs {
  repository: string;
  path: string;
  /** Empty: nothing to compare with. */
  base: string;
  requireLock: boolean;
  runTests: boolean;
  /** Where `report.md` and `report.sarif` go. */
  output: string;
}

export function inputsOf(env: NodeJS.ProcessEnv): Inputs {
  const repository = resolve(env['GITHUB_WORKSPACE'] || '.');
  return {
    repository,
    path: env['SKILLCELL_PATH'] || '.',
    // The first push of a branch has no commit before it.
    base: (env['SKILLCELL_BASE'] ?? '').replace(/^0+$/, ''),
    requireLock: env['SKILLCELL_REQUIRE_LOCK'] !== 'false',
    runTests: env['SKILLCELL_RUN_TESTS'] !== 'false',
    output: resolve(env['SKILLCELL_OUTPUT'] || join(env['RUNNER_TEMP'] || tmpdir(), 'skillcell')),
  };
}

export async function checkRepository(inputs: Inputs): Promise<SkillReport[]> {
  const { repository, path } = inputs;
  const base = inputs.base === '' ? undefined : commitOf(repository, inputs.base);
  const folders = skillFolders(repository, path);
  const baseFolders = base === undefined ? [] : skillFolders(repository, path, base);
  const scratch = mkdtempSync(join(tmpdir(), 'skillcell-action-'));
  try {
    await using examiner = new Examiner({ ...inputs, base, baseFolders, scratch });
    const reports: SkillReport[] = [];
    for (const folder of folders) reports.push(await examiner.examine(folder));
    const removed = baseFolders.filter((folder) => !folders.includes(folder)).map(removedSkill);
    return [...reports, ...removed];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function removedSkill(dir: string): SkillReport {
  return { dir, change: 'removed', lock: 'unknown', sentences: [], findings: [] };
}

function writeOutputs(inputs: Inputs, reports: readonly SkillReport[], env: NodeJS.ProcessEnv): void {
  mkdirSync(inputs.output, { recursive: true });
  const [report, sarif] = [join(inputs.output, 'report.md'), join(inputs.output, 'report.sarif')];
  const text = markdownOf(reports);
  writeFileSync(report, text);
  writeFileSync(sarif, `${JSON.stringify(sarifOf(reports, packageVersion()), null, 2)}\n`);
  const changes = reports.some(
    ({ capabilities, change }) =>
      change === 'removed' || (capabilities && capabilities.added.length + capabilities.removed.length > 0),
  );
  const results = `report=${report}\nsarif=${sarif}\ncapabilities-changed=${changes}\n`;
  if (env['GITHUB_STEP_SUMMARY']) appendFileSync(env['GITHUB_STEP_SUMMARY'], text);
  if (env['GITHUB_OUTPUT']) appendFileSync(env['GITHUB_OUTPUT'], results);
}

async function main(env: NodeJS.ProcessEnv): Promise<number> {
  const inputs = inputsOf(env);
  const reports = await checkRepository(inputs);
  writeOutputs(inputs, reports, env);
  for (const finding of reports.flatMap(({ findings }) => findings)) console.log(annotationOf(finding));
  const failed = reports.filter((report) => hasErrors([report])).length;
  console.log(`${reports.length} skills checked, ${failed} with errors`);
  return failed === 0 ? 0 : 1;
}

if (import.meta.main) {
  try {
    process.exitCode = await main(process.env);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
  }
}
