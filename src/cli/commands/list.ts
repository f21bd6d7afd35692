/**
 * `skillcell list`
 *
 * @module
 */
import { SkillError, type Runtime, type Skill } from '../../index.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printNote, printResult, table } from '../output.ts';

export async function list(flags: { json?: boolean }): Promise<number> {
  await using runtime = openRuntime();
  const rows = await Promise.all(
    runtime.list().map(async ({ ref, dir, origin }) => {
      try {
        const skill = await runtime.load(dir);
        const { manifest, lock, digest } = skill.bundle;
        const { summary: trust, profile } = runtime.standing(skill);
        const mode = await modeOf(runtime, skill);
        const about = manifest.shortDescription ?? manifest.description.split('\n')[0] ?? '';
        return { skill: ref, version: manifest.version, origin, trust, mode, profile, lock, digest, about };
      } catch (error) {
        const about = error instanceof Error ? error.message : String(error);
        return { skill: ref, version: '-', origin, ...NOTHING_KNOWN, about };
      }
    }),
  );
  if (flags.json) printResult(rows);
  else if (rows.length === 0) printNote('No skills found. Give `skillcell run` the folder of one.');
  else
    printLine(
      table([
        ['SKILL', 'VERSION', 'ORIGIN', 'TRUST', 'MODE', 'PROFILE', 'LOCK', 'DIGEST', 'ABOUT'],
        ...rows.map((row) => Object.values({ ...row, digest: row.digest.slice(7, 19) })),
      ]),
    );
  return 0;
}

const NOTHING_KNOWN = { trust: '-', mode: '-', profile: '-', lock: 'broken', digest: '' };

/** The mode that a call would have; `none here` when this machine has no fitting one. */
async function modeOf(runtime: Runtime, skill: Skill): Promise<string> {
  try {
    return (await runtime.choose(skill)).candidate.mode;
  } catch (error) {
    if (error instanceof SkillError) return 'none here';
    throw error;
  }
}
