/**
 * `skillcell list`
 *
 * @module
 */
import { openRuntime } from '../open-runtime.ts';
import { printLine, printNote, printResult, table } from '../output.ts';

export async function list(flags: { json?: boolean }): Promise<number> {
  await using runtime = openRuntime();
  const rows = await Promise.all(
    runtime.list().map(async ({ ref, dir, origin }) => {
      try {
        const { bundle } = await runtime.load(dir);
        const { manifest, lock } = bundle;
        const about = manifest.shortDescription ?? manifest.description.split('\n')[0] ?? '';
        return { skill: ref, version: manifest.version, origin, lock, about };
      } catch (error) {
        const about = error instanceof Error ? error.message : String(error);
        return { skill: ref, version: '-', origin, lock: 'broken', about };
      }
    }),
  );
  if (flags.json) printResult(rows);
  else if (rows.length === 0) printNote('No skills found. Give `skillcell run` the folder of one.');
  else
    printLine(
      table([['SKILL', 'VERSION', 'ORIGIN', 'LOCK', 'ABOUT'], ...rows.map((row) => Object.values(row))]),
    );
  return 0;
}
