/**
 * `skillcell init`
 *
 * @module
 */
import { relative } from 'node:path';
import { initSkill } from '../../inside.ts';
import { printLine, printResult } from '../output.ts';

export interface InitFlags {
  lang?: string;
  from?: string;
  dir?: string;
  json?: boolean;
}

export function init(name: string, options: InitFlags): Promise<number> {
  const { dir, files, next } = initSkill(name, {
    language: options.lang,
    from: options.from,
    ...(options.dir === undefined ? {} : { dir: options.dir }),
  });
  const folder = relative(process.cwd(), dir) || '.';
  if (options.json) {
    printResult({ ok: true, folder: dir, files, next });
    return Promise.resolve(0);
  }
  for (const file of files) printLine(`Wrote ${folder}/${file}`);
  printLine('\nNext:');
  for (const step of next) printLine(`  ${step}`);
  return Promise.resolve(0);
}
