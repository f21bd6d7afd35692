/**
 * What is wrong with a manifest, each with its place, and the one error that reports all of it at once.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { formatPath } from './quote.ts';

export interface ManifestProblem {
  /** Where in the document, e.g. `capabilities.network[0].host`. */
  path: string;
  /** 1-based line in the file, when the place has one. */
  line?: number;
  message: string;
}

/** More than a person reads; a hostile manifest must not make an endless report. */
const MAX_PROBLEMS = 50;
const SHOWN_IN_MESSAGE = 3;

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

/** The `manifest_invalid` error for a file; the text shows the first problems, `detail.problems` all. */
export function manifestInvalid(file: string, problems: readonly ManifestProblem[]): SkillError {
  const shown = problems.slice(0, SHOWN_IN_MESSAGE).map(describeProblem).join('; ');
  const rest = problems.length - SHOWN_IN_MESSAGE;
  const more = rest > 0 ? `; and ${rest} more` : '';
  return new SkillError('manifest_invalid', `Manifest ${file} is invalid: ${shown}${more}`, {
    fix: `Correct ${file} at the places named. All problems are listed in detail.problems.`,
    detail: { file, problems: problems.slice(0, MAX_PROBLEMS) },
  });
}
