/**
 * Starts the test files that take longest first, so that no worker has to wait for one of them at the end. Without the
 * durations of an earlier run, as in CI, vitest starts large files first, and a long suite may be a file of ten lines.
 *
 * @module
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { rankOf } from './gears.ts';
import { ROOT } from './steps.ts';

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOfSpec(a) - rankOfSpec(b));
  }
}

function rankOfSpec({ moduleId }: TestSpecification): number {
  return rankOf(relative(ROOT, moduleId));
}
