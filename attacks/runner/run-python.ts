/**
 * Runs the attacks on Python in Wasm.
 *
 * @module
 */
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Outcome } from '../../src/outcome.ts';
import { finishRow, type AttackRow, type BenignCall, type Execute, type Finding } from './attack-row.ts';
import { runPythonControl } from './control.ts';
import { successIn } from './outcome-view.ts';
import { ATTACKS_DIR } from './places.ts';
import type { PythonAttack } from './python-expectations.ts';
import { startWeb, type Web } from './scene.ts';
import { openSetting, type Setting } from './setting.ts';

export const PYTHON_DIR: string = join(ATTACKS_DIR, 'python-wasm');
const BENIGN: BenignCall = {
  dir: join(ATTACKS_DIR, 'runner', 'benign'),
  params: { a: 2, b: 40 },
  answer: '{"sum":42}',
  execution: 'wasm',
};

export interface PythonRun {
  secret: string;
  execute: Execute;
  /** Whether each attack is also shown to work without the wall. */
  controls: boolean;
}

/** An attack with the host around it. */
export interface PythonStage {
  setting: Setting;
  bundleDir: string;
  /** Of the web server; 0: there is none. */
  webPort: number;
  links: Record<string, string>;
}

export async function runPythonAttack(attack: PythonAttack, run: PythonRun): Promise<AttackRow> {
  await using setting = await openSetting(run.secret, attack.name);
  const web = attack.web ? await startWeb(setting) : undefined;
  try {
    const stage = await prepare(attack, setting, web);
    const control = run.controls ? await controlOf(attack, stage) : { none: 'Not run.' };
    const outcomes = await callJailed(attack, stage, run.execute);
    const harm = [
      ...outcomes.flatMap((outcome) => successIn(outcome, run.secret)),
      ...(await setting.harm()),
    ];
    const description = attack.description ?? (await describe(stage.bundleDir));
    const outcome = outcomes.at(-1)!;
    const finding = { name: attack.name, description, control, outcome, harm, expected: attack };
    return await finishRow(finding, run.execute, BENIGN);
  } finally {
    await web?.stop();
  }
}

async function prepare(attack: PythonAttack, setting: Setting, web: Web | undefined): Promise<PythonStage> {
  const links: Record<string, string> = attack.link ? { link: setting.params.secret_file } : {};
  for (const [name, target] of Object.entries(links)) await symlink(target, join(setting.workspace, name));
  const written = join(PYTHON_DIR, attack.bundle);
  const bundleDir = web ? await withRule(written, join(setting.dir, 'attack'), web.port) : written;
  return { setting, bundleDir, webPort: web?.port ?? 0, links };
}

/** The bundle with a rule for the open part of the server, whose port nobody knew before. */
async function withRule(from: string, to: string, port: number): Promise<string> {
  await cp(from, to, { recursive: true });
  const path = join(to, 'manifest.yaml');
  const manifest = parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  const network = [{ host: '127.0.0.1', port, scheme: 'http', methods: ['GET'], paths: ['/open/*'] }];
  await writeFile(path, JSON.stringify({ ...manifest, capabilities: { network } }));
  return to;
}

function controlOf(
  attack: PythonAttack,
  stage: PythonStage,
): Promise<Finding['control']> | Finding['control'] {
  return 'none' in attack.control ? attack.control : runPythonControl(attack, stage, attack.control.judge);
}

async function callJailed(attack: PythonAttack, stage: PythonStage, execute: Execute): Promise<Outcome[]> {
  const { setting, webPort, bundleDir } = stage;
  const options = { timeout: attack.timeout, workspace: setting.workspace };
  const outcomes: Outcome[] = [];
  for (const call of attack.calls)
    outcomes.push(await execute(bundleDir, { ...setting.params, web_port: webPort, ...call }, options));
  return outcomes;
}

async function describe(bundleDir: string): Promise<string> {
  const manifest = parse(await readFile(join(bundleDir, 'manifest.yaml'), 'utf8')) as { description: string };
  return manifest.description;
}
