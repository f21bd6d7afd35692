/**
 * `skillcell list`
 *
 * @module
 */
import {
  SkillError,
  filterSkills,
  mapConcurrently,
  shadowWarnings,
  type Runtime,
  type Skill,
} from '../../inside.ts';
import { openRuntime } from '../open-runtime.ts';
import { printLine, printNote, printResult, printWarning, table } from '../output.ts';

const COLUMNS = [
  'skill',
  'version',
  'origin',
  'kind',
  'trust',
  'mode',
  'profile',
  'lock',
  'digest',
  'about',
] as const;

type Location = ReturnType<Runtime['list']>[number];
type Row = Record<(typeof COLUMNS)[number], string>;

export async function list(flags: { json?: boolean; skills?: string[] }): Promise<number> {
  await using runtime = openRuntime({ skills: flags.skills });
  const locations = filterSkills(runtime.list(), flags.skills);
  const rows = await mapConcurrently(locations, (location) => rowFor(runtime, location));
  for (const location of locations) shadowWarnings(location).forEach(printWarning);
  if (flags.json) printResult(rows);
  else if (rows.length === 0) printNote('No skills found. Pass the folder of a skill to `skillcell run`.');
  else
    printLine(
      table([
        COLUMNS.map((column) => column.toUpperCase()),
        ...rows.map((row) => COLUMNS.map((column) => formatCell(column, row[column]))),
      ]),
    );
  return 0;
}

/** The first characters of a digest identify it; `--json` prints all of it. */
function formatCell(column: string, value: string): string {
  return column === 'digest' ? value.slice('sha256:'.length, 19) : value;
}

async function rowFor(runtime: Runtime, { ref, dir, origin }: Location): Promise<Row> {
  try {
    const skill = await runtime.load(dir);
    const { manifest, kind, lock, digest } = skill.bundle;
    const { summary: trust, profile } = await runtime.standing(skill);
    const mode = await modeOf(runtime, skill);
    const about = manifest.shortDescription ?? manifest.description.split('\n')[0] ?? '';
    return { skill: ref, kind, version: manifest.version, origin, trust, mode, profile, lock, digest, about };
  } catch (error) {
    const about = error instanceof Error ? error.message : String(error);
    const unknown = { kind: '-', trust: '-', mode: '-', profile: '-', digest: '' };
    return { skill: ref, version: '-', origin, ...unknown, lock: isOurFault(error) ? '-' : 'broken', about };
  }
}

/** A busy machine or a fault of ours says nothing about the skill. */
function isOurFault(error: unknown): boolean {
  return !(error instanceof SkillError) || error.code === 'resource_exceeded' || error.code === 'internal';
}

/** The mode a call would run in; `-` if nothing in the skill runs; `none here` if this machine supports none that the skill allows. */
async function modeOf(runtime: Runtime, skill: Skill): Promise<string> {
  if (skill.bundle.kind === 'instructions') return '-';
  try {
    return (await runtime.choose(skill)).candidate.mode;
  } catch (error) {
    if (error instanceof SkillError) return 'none here';
    throw error;
  }
}
