/**
 * Runs the attacks by scripts in Wasm: Python and JavaScript.
 *
 * @module
 */
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Outcome } from '../../src/outcome.ts';
import { finishRow, type AttackRow, type BenignCall, type Execute, type Finding } from './attack-row.ts';
import { runScriptControl } from './control.ts';
import { successIn } from './outcome-view.ts';
import { ATTACKS_DIR } from './places.ts';
import type { ScriptAttack } from './script-attack.ts';
import { startWeb, type Web } from './scene.ts';
import { openSetting, type Setting } from './setting.ts';

/** The attacks of one language. */
export interface Corpus {
  /** Where their bundles are. */
  dir: string;
  benign: BenignCall;
  /** The program of the control room that calls them. */
  harness?: string;
}

export const PYTHON: Corpus = {
  dir: join(ATTACKS_DIR, 'python-wasm'),
  benign: benignIn('benign'),
};

export const JAVASCRIPT: Corpus = {
  dir: join(ATTACKS_DIR, 'js-wasm'),
  benign: benignIn('benign_js'),
  harness: 'naive_js.mjs',
};

function benignIn(folder: string): BenignCall {
  const dir = join(ATTACKS_DIR, 'runner', folder);
  return { dir, params: { a: 2, b: 40 }, answer: '{"sum":42}', execution: 'wasm' };
}

export interface ScriptRun {
  corpus: Corpus;
  secret: string;
  execute: Execute;
  /** Whether each attack is also shown to work without the wall. */
  controls: boolean;
}

/** An attack with the host around it. */
export interface ScriptStage {
  setting: Setting;
  corpus: Corpus;
  bundleDir: string;
  /** Of the web server; 0: there is none. */
  webPort: number;
  links: Record<string, string>;
}

export async function runScriptAttack(attack: ScriptAttack, run: ScriptRun): Promise<AttackRow> {
  await using setting = await openSetting(run.secret, attack.name);
  const web = attack.web ? await startWeb(setting) : undefined;
  try {
    const stage = await prepare(attack, { setting, web, corpus: run.corpus });
    const control = run.controls ? await controlOf(attack, stage) : { none: 'Not run.' };
    const outcomes = await callJailed(attack, stage, run.execute);
    const harm = [
      ...outcomes.flatMap((outcome) => successIn(outcome, run.secret)),
      ...(await setting.harm()),
    ];
    const description = attack.description ?? (await describe(stage.bundleDir));
    const outcome = outcomes.at(-1)!;
    const finding = { name: attack.name, description, control, outcome, harm, expected: attack };
    return await finishRow(finding, run.execute, run.corpus.benign);
  } finally {
    await web?.stop();
  }
}

interface Place {
  setting: Setting;
  web: Web | undefined;
  corpus: Corpus;
}

async function prepare(attack: ScriptAttack, { setting, web, corpus }: Place): Promise<ScriptStage> {
  const links: Record<string, string> = attack.link ? { link: setting.params.secret_file } : {};
  for (const [name, target] of Object.entries(links)) await symlink(target, join(setting.workspace, name));
  const written = join(corpus.dir, attack.bundle);
  const bundleDir = web ? await withRule(written, join(setting.dir, 'attack'), web.port) : written;
  return { setting, corpus, bundleDir, webPort: web?.port ?? 0, links };
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
  attack: ScriptAttack,
  stage: ScriptStage,
): Promise<Finding['control']> | Finding['control'] {
  return 'none' in attack.control ? attack.control : runScriptControl(attack, stage, attack.control.judge);
}

async function callJailed(attack: ScriptAttack, stage: ScriptStage, execute: Execute): Promise<Outcome[]> {
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
