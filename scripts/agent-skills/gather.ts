/**
 * Gathers the evidence about checkouts beside the project, and keeps it if asked to.
 *
 * @module
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { currentLoad, readMachine } from '../../bench/runner/machine.ts';
import { saveResult } from '../../bench/saved-results.ts';
import { createRuntime, SkillError, type Runtime } from '../../src/inside.ts';
import { findBundles } from '../../src/study/find-bundles.ts';
import { examineAll } from './examine.ts';
import { askScripts, askWithWheels, installPackages } from './ask-scripts.ts';
import { runInject, type InjectReport } from './inject/run-inject.ts';
import { countLoads, readCheckout, type AgentSkillsReport, type RepositoryReport } from './report.ts';
import { DOCX_TASK } from './tasks/docx.ts';
import { PDF_TASK } from './tasks/pdf.ts';
import { PPTX_TASK } from './tasks/pptx.ts';
import { buildOffice, OFFICE_TASKS, useOffice } from './tasks/office.ts';
import { runTask, type Task } from './tasks/run-task.ts';
import { XLSX_TASK } from './tasks/xlsx.ts';

const MAX_BUNDLES = 2000;
const TASKS = [PDF_TASK, DOCX_TASK, XLSX_TASK, PPTX_TASK];
/** Where SKILL-INJECT keeps the scripts that its injections run. */
const INJECT_SCRIPTS = 'data/task_scripts';

export interface GatherOptions {
  temp: string;
  checkouts: readonly string[];
  run: boolean;
  /** Checkouts whose scripts are not run. */
  load?: readonly string[] | undefined;
  save: boolean;
  tasks?: string | undefined;
  inject?: string | undefined;
  /** A folder with wheels for Wasm that the index does not have. */
  wheels?: string | undefined;
  /** Also the tasks that need LibreOffice, in a container. */
  office?: boolean | undefined;
}

export async function gather(options: GatherOptions): Promise<void> {
  const { temp, checkouts, run, load = [], save, tasks, inject, office } = options;
  const home = join(temp, 'home');
  mkdirSync(home, { mode: 0o711 });
  const machine = await readMachine(home, 'script', 'subprocess');
  const lookups: string[] = [];
  // No connection can leave the machine, whatever a script does.
  const network = { lookup: recordIn(lookups), localAddress: '127.0.0.1' };
  await using runtime = createRuntime({ home, cwd: temp, network });
  const report: AgentSkillsReport = {
    machine,
    repositories: [],
    tasks: tasks === undefined ? [] : await gatherTasks(runtime, tasks, temp),
    ...(inject === undefined ? {} : { inject: await gatherInject({ runtime, temp, lookups }, inject) }),
  };
  for (const checkout of checkouts) report.repositories.push(await gatherRepository(runtime, checkout, run));
  if (options.wheels !== undefined && run) await gatherBuilt(options, report, options.wheels);
  for (const checkout of load) report.repositories.push(await gatherRepository(runtime, checkout, false));
  if (office && tasks !== undefined)
    report.tasks.push(...(await gatherOffice(runtime, tasks, { temp, home })));
  report.machine = { ...machine, loadAtEnd: currentLoad() };
  console.log(JSON.stringify(report, null, 2));
  if (save) console.error(`Written to ${saveResult(report, 'agent-skills')}`);
}

/** In a home of its own, because packages are installed once. */
async function gatherBuilt(
  { temp, checkouts }: Pick<GatherOptions, 'temp' | 'checkouts'>,
  { repositories }: AgentSkillsReport,
  wheels: string,
): Promise<void> {
  const home = join(temp, 'home-with-wheels');
  mkdirSync(home, { mode: 0o711 });
  process.env['PIP_FIND_LINKS'] = [process.env['PIP_FIND_LINKS'], wheels].filter(Boolean).join(' ');
  const network = { lookup: recordIn([]), localAddress: '127.0.0.1' };
  await using runtime = createRuntime({ home, cwd: temp, network });
  for (const [at, checkout] of checkouts.entries())
    for (const { path, dir } of findBundles(readCheckout(checkout).dir, MAX_BUNDLES))
      await askWithWheels(runtime, dir, repositories[at]?.asked.filter(({ skill }) => skill === path) ?? []);
}

function recordIn(lookups: string[]): (hostname: string) => Promise<string[]> {
  return (hostname) => {
    lookups.push(hostname);
    return Promise.resolve(['127.0.0.1']);
  };
}

async function gatherRepository(runtime: Runtime, argument: string, run: boolean): Promise<RepositoryReport> {
  const { dir, name, commit } = readCheckout(argument);
  const rows = await examineAll(runtime, dir);
  const report: RepositoryReport = {
    name,
    commit,
    ...countLoads(rows),
    asked: [],
    packages: {},
    problems: {},
  };
  const loading = new Set(
    rows.filter(({ loads, kind }) => loads && kind === 'script').map(({ folder }) => folder),
  );
  for (const found of run ? findBundles(dir, MAX_BUNDLES) : []) {
    if (!loading.has(found.path)) continue;
    console.error(`asking ${found.path}`);
    const { scripts, packages, problem } = await askScripts(runtime, found.path, found.dir);
    report.asked.push(...scripts);
    if (packages.length > 0) report.packages[found.path] = packages;
    if (problem !== '') report.problems[found.path] = problem;
  }
  return report;
}

/** In Wasm as well; a mode that refuses is a row that says so. */
async function gatherTasks(
  runtime: Runtime,
  argument: string,
  temp: string,
): Promise<AgentSkillsReport['tasks']> {
  const bundles = findBundles(readCheckout(argument).dir, MAX_BUNDLES);
  const rows: AgentSkillsReport['tasks'] = [];
  for (const task of TASKS) {
    const dir = folderOf(task, bundles);
    const { packages } = await installPackages(runtime, dir);
    for (const mode of ['subprocess', 'wasm'] as const) {
      console.error(`${task.skill} in ${mode}`);
      rows.push({ ...(await runTask(runtime, task, { dir, temp, mode })), packages });
    }
  }
  return rows;
}

/** Last, because what the image needs is granted to the whole skill, and Wasm refuses such a grant. */
async function gatherOffice(
  runtime: Runtime,
  argument: string,
  { temp, home }: { temp: string; home: string },
): Promise<AgentSkillsReport['tasks']> {
  const bundles = findBundles(readCheckout(argument).dir, MAX_BUNDLES);
  const rows: AgentSkillsReport['tasks'] = [];
  const built = await buildOffice(home);
  console.error(`The image has ${built.packages} Debian packages and ${built.bytes} bytes`);
  for (const task of OFFICE_TASKS) {
    const dir = folderOf(task, bundles);
    const { packages } = await installPackages(runtime, dir);
    useOffice(home, task.skill);
    console.error(`${task.skill} in container`);
    rows.push({ ...(await runTask(runtime, task, { dir, temp, mode: 'container' })), packages });
  }
  return rows;
}

function folderOf({ skill }: Task, bundles: ReturnType<typeof findBundles>): string {
  const dir = bundles.find(({ path }) => path === skill || path.endsWith(`/${skill}`))?.dir;
  if (dir !== undefined) return dir;
  throw new SkillError('usage', `The checkout has no skill "${skill}"`, {
    fix: 'Pass a checkout of anthropics/skills.',
  });
}

async function gatherInject(place: Parameters<typeof runInject>[0], argument: string): Promise<InjectReport> {
  const { dir, name, commit } = readCheckout(argument);
  const rows = await runInject(place, join(dir, INJECT_SCRIPTS));
  const acted = rows.filter(({ acts }) => acts.length > 0);
  const contained = acted.filter(({ escapes, cells }) => escapes.length === 0 && cells > 0);
  return { name, commit, scripts: rows.length, acted: acted.length, contained: contained.length, rows };
}
