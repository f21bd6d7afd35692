/**
 * `skillcell study`
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SkillError, formatStudy, printableLine, studyFolder } from '../../inside.ts';
import { printFile, printNote, printResult } from '../output.ts';

export interface StudyFlags {
  out?: string;
  cases?: string;
  calls: string;
  seconds: string;
  json?: boolean;
}

/** Exits with 1 if something that should work does not. */
export async function study(folder: string, flags: StudyFlags): Promise<number> {
  const report = await studyFolder(folder, {
    calls: count(flags.calls, '--calls'),
    secondsPerSkill: count(flags.seconds, '--seconds'),
    ...(flags.cases === undefined ? {} : { cases: resolve(flags.cases) }),
    ...(process.stderr.isTTY ? { onSkill: (path) => printNote(`studying ${printableLine(path)}`) } : {}),
  });
  const page = formatStudy(report);
  if (flags.out !== undefined) {
    mkdirSync(flags.out, { recursive: true });
    writeFileSync(join(flags.out, 'study.md'), page);
    writeFileSync(join(flags.out, 'study.json'), `${JSON.stringify(report, null, 2)}\n`);
  }
  if (flags.json) printResult(report);
  else printFile(page);
  return report.failures.length === 0 ? 0 : 1;
}

function count(text: string, flag: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0 && number <= 10_000) return number;
  throw new SkillError('usage', `${flag} "${text}" is not a whole number from 1 to 10000`, {
    fix: `Pass a number, such as ${flag} 5.`,
  });
}
