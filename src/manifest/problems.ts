/**
 * Problems of a manifest, each with its place, and the one error that reports all of them.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { formatPath } from './quote.ts';

export interface ManifestProblem {
  /** Place in the document, e.g. `capabilities.network[0].host`. */
  path: string;
  /** 1-based line in the file, if known. */
  line?: number;
  message: string;
}

/** More than a person reads; a hostile manifest must not cause an endless report. */
const MAX_PROBLEMS = 50;
const MAX_IN_MESSAGE = 3;

export function problemAt(
  path: readonly PropertyKey[],
  message: string,
  line: number | undefined,
): ManifestProblem {
  return { path: formatPath(path), ...(line === undefined ? {} : { line }), message };
}

export function describeProblem(problem: ManifestProblem): string {
  const place = problem.line === undefined ? problem.path : `${problem.path} (line ${problem.line})`;
  return `${place}: ${problem.message}`;
}

/** The `manifest_invalid` error for a file. The message has the first problems, `detail.problems` has all. */
export function manifestInvalid(file: string, problems: readonly ManifestProblem[]): SkillError {
  const summary = problems.slice(0, MAX_IN_MESSAGE).map(describeProblem).join('; ');
  const rest = problems.length - MAX_IN_MESSAGE;
  const more = rest > 0 ? `; and ${rest} more` : '';
  return new SkillError('manifest_invalid', `Manifest ${file} is invalid: ${summary}${more}`, {
    fix: `Correct the named places in ${file}. All problems are listed in detail.problems.`,
    detail: { file, problems: problems.slice(0, MAX_PROBLEMS) },
  });
}
