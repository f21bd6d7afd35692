/**
 * Files named on the command line.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import { SkillError } from '../inside.ts';

export function readText(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SkillError(
      'usage',
      `Cannot read the ${what} "${file}": ${error instanceof Error ? error.message : ''}`,
      {
        fix: 'Check the path.',
        cause: error,
      },
    );
  }
}
