/**
 * Containment: hostile scripts of a benchmark, first in a control without Skillcell, then in cells. A script that does
 * nothing in the control proves nothing, so it does not count.
 *
 * @module
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
  chmodSync,
  existsSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { Outcome, Runtime, SkillGrants } from '../../../src/inside.ts';
import { installPackages } from '../ask-scripts.ts';
import { commandOf } from '../classify.ts';
import { runControl } from './control.ts';
import { changes, makeWorld, SECRET, snapshot } from './world.ts';

export interface InjectRow {
  script: string;
  /** What it did in the control: `files`, `network`, `secret`. */
  acts: string[];
  /** The same in cells; empty if it was contained. Changes that the grant allows are not in it. */
  escapes: string[];
  /** Whether it changes files of the project if the project is made writable. */
  usesGrant: boolean;
  /** Number of cells, and of denials in them. */
  cells: number;
  denials: number;
}

export interface InjectReport {
  name: string;
  commit: string;
  scripts: number;
  acted: number;
  contained: number;
  rows: InjectRow[];
}

const LIMIT_MS = 10_000;
/** Scripts need different arguments; these make most of them act. */
const ARGUMENTS: readonly string[][] = [[], ['letter.docx']];

interface Place {
  runtime: Runtime;
  temp: string;
  /** Names that the runtime looked up, which is the first step of every connection. */
  lookups: string[];
}

/** Runs every script below `folder`. */
export async function runInject(place: Place, folder: string): Promise<InjectRow[]> {
  const scripts = readdirSync(folder).filter((name) => /\.(?:py|sh)$/.test(name));
  const rows: InjectRow[] = [];
  for (const script of scripts.sort()) rows.push(await tryScript(place, join(folder, script)));
  return rows;
}

async function tryScript(place: Place, file: string): Promise<InjectRow> {
  const script = basename(file);
  const temp = mkdtempSync(join(place.temp, 'inject-'));
  chmodSync(temp, 0o755);
  try {
    const skill = writeSkill(temp, file);
    await installPackages(place.runtime, skill);
    const packages = installedFolders(place.runtime.home);
    const acts = new Set<string>();
    for (const args of ARGUMENTS)
      for (const act of await actsInControl({ temp, skill, packages }, [script, ...args])) acts.add(act);
    const row = {
      script,
      acts: [...acts].sort(),
      escapes: [] as string[],
      usesGrant: false,
      cells: 0,
      denials: 0,
    };
    return acts.size === 0 ? row : { ...row, ...(await actsInCells(place, { temp, skill, script })) };
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** The script as a skill of its own. */
function writeSkill(temp: string, file: string): string {
  const skill = join(temp, 'hostile');
  mkdirSync(join(skill, 'scripts'), { recursive: true });
  writeFileSync(
    join(skill, 'SKILL.md'),
    '---\nname: hostile\ndescription: A script of a benchmark.\n---\n\nRun it.\n',
  );
  copyFileSync(file, join(skill, 'scripts', basename(file)));
  return skill;
}

const programOf = (script: string): string => (script.endsWith('.py') ? 'python3' : 'bash');

/** Packages of all scripts so far: more of them can only make the control act more. */
function installedFolders(home: string): string[] {
  const root = join(home, 'environments');
  const names = existsSync(root) ? readdirSync(root) : [];
  return names.map((name) => join(root, name, 'packages')).filter((folder) => existsSync(folder));
}

async function actsInControl(
  { temp, skill, packages }: { temp: string; skill: string; packages: string[] },
  [script = '', ...args]: string[],
): Promise<string[]> {
  const home = makeWorld(mkdtempSync(join(openFolder(temp), 'control-')));
  chmodSync(join(home, '..'), 0o755);
  const before = snapshot(home);
  const command = [`/usr/bin/${programOf(script)}`, `/scripts/${script}`, ...args];
  const { requests, output } = await runControl({ home, scripts: join(skill, 'scripts'), packages }, command);
  return actsOf({ changed: changes(before, snapshot(home)), requests, output });
}

function actsOf({
  changed,
  requests,
  output,
}: {
  changed: string[];
  requests: string[];
  output: string;
}): string[] {
  return [
    ...(changed.length > 0 ? ['files'] : []),
    ...(requests.length > 0 ? ['network'] : []),
    ...(output.includes(SECRET) ? ['secret'] : []),
  ];
}

/** With the project to read, with the project to write, and without a project, where the working directory is scratch. */
const WAYS: readonly { project: boolean; grants?: SkillGrants }[] = [
  { project: true },
  { project: true, grants: { write: ['.'] } },
  { project: false },
];

async function actsInCells(
  { runtime, lookups }: Place,
  { temp, skill, script }: { temp: string; skill: string; script: string },
): Promise<Pick<InjectRow, 'escapes' | 'usesGrant' | 'cells' | 'denials'>> {
  const escapes = new Set<string>();
  const sum = { usesGrant: false, cells: 0, denials: 0 };
  for (const { project, grants } of WAYS)
    for (const args of ARGUMENTS) {
      const home = makeWorld(mkdtempSync(join(openFolder(temp), 'cell-')));
      chmodSync(join(home, '..'), 0o755);
      if (grants) chmodSync(join(home, 'project'), 0o777);
      const [before, looked] = [snapshot(home), lookups.length];
      const outcome = await runtime.exec(skill, [programOf(script), `scripts/${script}`, ...args], {
        ...(project ? { workspace: join(home, 'project') } : {}),
        ...(grants ? { grants } : {}),
        ...{ reject: false, execution: 'subprocess', signal: AbortSignal.timeout(LIMIT_MS) },
      });
      const changed = changes(before, snapshot(home));
      const isGranted = (path: string): boolean => grants !== undefined && /^project(?:\/|$)/.test(path);
      sum.usesGrant ||= changed.some(isGranted);
      sum.cells += outcome.execution ? 1 : 0;
      sum.denials += outcome.capabilities.denied.length;
      const requests = [...lookups.slice(looked), ...usedNetwork(outcome)];
      const outside = changed.filter((path) => !isGranted(path));
      for (const act of actsOf({ changed: outside, requests, output: outputOf(outcome) })) escapes.add(act);
    }
  return { escapes: [...escapes].sort(), ...sum };
}

function usedNetwork({ capabilities }: Outcome): string[] {
  return capabilities.used.filter(({ capability }) => capability === 'network').map(({ asked }) => asked);
}

function outputOf(outcome: Outcome): string {
  if (!outcome.ok) return outcome.logs;
  const { stdout, stderr } = commandOf(outcome.result);
  return stdout + stderr;
}

/** The throwaway user must be able to traverse it. */
function openFolder(folder: string): string {
  chmodSync(folder, 0o755);
  return folder;
}
