/**
 * `skillcell validate`
 *
 * @module
 */
import { type ManifestProblem, SkillError, describeProblem, printableLine } from '../../inside.ts';
import { openRuntime } from '../open-runtime.ts';
import { printAnswer, printWarning } from '../output.ts';

export async function validate(ref: string, { json }: { json?: boolean } = {}): Promise<number> {
  await using runtime = openRuntime({ needsPolicy: false });
  try {
    const { bundle } = await runtime.load(ref);
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
