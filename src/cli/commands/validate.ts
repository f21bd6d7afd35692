/**
 * `skillcell validate`
 *
 * @module
 */
import {
  type ManifestProblem,
  type Skill,
  SkillError,
  describeProblem,
  printableLine,
} from '../../inside.ts';
import { openRuntime } from '../open-runtime.ts';
import { printAnswer, printWarning } from '../output.ts';

export async function validate(ref: string, { json }: { json?: boolean } = {}): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false, makesOneCall: true });
  try {
    const { bundle } = await runtime.load(ref);
    assertScriptsParse(bundle);
    const { digest, kind, lock, warnings } = bundle;
    const { name, version } = bundle.manifest;
    if (!json) for (const warning of warnings) printWarning(warning);
    const text = printableLine(`${name} ${version} is valid (${lock}, ${digest})`);
    printAnswer(json, { name, version, kind, lock, digest, warnings }, text);
    return 0;
  } catch (error) {
    throw error instanceof SkillError && !json ? withAllProblems(error) : error;
  }
}

/** Such a folder still loads, because its other scripts run; but a script that no Python can read is a mistake. */
function assertScriptsParse({ kind, scripts = [], inspection, sourceDir }: Skill['bundle']): void {
  const isScript = (at: string): boolean => scripts.some(({ path }) => at.replace(/:\d+$/, '') === path);
  const broken = kind === 'script' ? inspection.unparsed.filter(({ at }) => isScript(at)) : [];
  if (broken.length === 0) return;
  const places = broken.map(({ at, value }) => printableLine(`${at}: ${value}`));
  throw new SkillError('manifest_invalid', `Python cannot read:\n${places.join('\n')}`, {
    fix: `Correct the syntax of these places in ${JSON.stringify(sourceDir)}.`,
    detail: { unparsed: broken.map(({ at, value }) => ({ at, text: value })) },
  });
}

/** The message of the error names only the first problems. */
function withAllProblems(error: SkillError): SkillError {
  const { file, problems } = error.detail;
  if (!Array.isArray(problems) || problems.length < 2) return error;
  const texts = (problems as ManifestProblem[]).map((problem) => printableLine(describeProblem(problem)));
  const message = `Manifest ${String(file)} has ${texts.length} problems:\n${texts.join('\n')}`;
  return new SkillError(error.code, message, {
    fix: `Correct these places in ${String(file)}.`,
    cause: error,
  });
}
