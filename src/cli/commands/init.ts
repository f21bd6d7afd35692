/**
 * `skillcell init`
 *
 * @module
 */
import { relative } from 'node:path';
import { initSkill } from '../../index.ts';
import { printLine } from '../output.ts';

export function init(name: string, options: { lang: string; dir?: string }): Promise<number> {
  const { dir, files, next } = initSkill(name, {
    language: options.lang,
    ...(options.dir === undefined ? {} : { dir: options.dir }),
  });
  const shown = relative(process.cwd(), dir) || '.';
  for (const file of files) printLine(`Wrote ${shown}/${file}`);
  printLine('\nNext:');
  for (const step of next) printLine(`  ${step}`);
  return Promise.resolve(0);
}
