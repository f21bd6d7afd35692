/**
 * Runs the attacks by scripts in Wasm: Python and JavaScript.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parse } from 'yaml';
import type { Outcome } from '../../src/outcome.ts';
import { mark, type BundleStage } from './bundle-stage.ts';
import {
  finishRow,
  type AttackRow,
  type BenignCall,
  type CorpusName,
  type Execute,
  type Finding,
} from './attack-row.ts';
import { runScriptControl } from './control.ts';
import { evidenceOf, successIn } from './outcome-view.ts';
import { LANGUAGES, raisingAtMarker, REACHED } from './marker.ts';
import { ATTACKS_DIR } from './places.ts';
import type { ScriptAttack } from './script-attack.ts';
import { callUntilReached, missingProof } from './proof.ts';
import { startWeb, type Web } from './scene.ts';
import { openSetting, type Setting } from './setting.ts';

/** A twin only loads. */
const TWIN_MS = 60_000;

/** The attacks of one language. */
export interface Corpus {
  name: CorpusName;
  /** Where their bundles are. */
  dir: string;
  benign: BenignCall;
  /** The program of the control room that calls them. */
  harness?: string;
}

export const PYTHON: Corpus = {
  name: 'python-wasm',
  dir: join(ATTACKS_DIR, 'python-wasm'),
  benign: benignIn('benign'),
};

export const JAVASCRIPT: Corpus = {
  name: 'js-wasm',
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
  stage: BundleStage;
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
    const stage = await prepare(attack, { setting, web, corpus: run.corpus, stage: run.stage });
    const control = run.controls ? await controlOf(attack, stage) : { none: 'Not run.' };
    const outcomes = await callJailed(attack, stage, run.execute);
    const harm = [
      ...outcomes.flatMap((outcome) => successIn(outcome, run.secret)),
      ...(await setting.harm()),
    ];
    const description = attack.description ?? (await describe(stage.bundleDir));
    const facts = { corpus: run.corpus.name, name: attack.name, description, control, outcomes, harm };
    const didNotRun = attack.loads ? await twinFails(stage, run.execute) : undefined;
    const proof = attack.loads ? 'answer' : 'marker';
    const finding = { ...facts, didNotRun, proof, expected: attack } as const;
    return await finishRow(finding, run.execute, run.corpus.benign);
  } finally {
    await web?.stop();
  }
}

interface Place {
  setting: Setting;
  web: Web | undefined;
  corpus: Corpus;
  stage: BundleStage;
}

async function prepare(attack: ScriptAttack, { setting, web, corpus, stage }: Place): Promise<ScriptStage> {
  const links: Record<string, string> = attack.link ? { link: setting.params.secret_file } : {};
  for (const [name, target] of Object.entries(links)) await symlink(target, join(setting.workspace, name));
  const written = join(corpus.dir, attack.bundle);
  const bundleDir = web
    ? mark(await withRule(written, join(setting.dir, 'attack'), web.port))
    : stage.attack(written);
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
  const { workspace } = setting;
  const outcomes: Outcome[] = [];
  for (const call of attack.calls) {
    const params = { ...setting.params, web_port: webPort, ...call };
    const outcome = await callUntilReached(
      (timeout) => execute(bundleDir, params, { timeout, workspace }),
      attack.timeout,
      (ended) => attack.loads === true || missingProof(ended, 'marker', attack) === undefined,
    );
    outcomes.push(outcome);
  }
  return outcomes;
}

/** Whether a twin of the attack gets to where its act is, and raises there. */
async function twinFails(stage: ScriptStage, execute: Execute): Promise<string | undefined> {
  const { setting, bundleDir } = stage;
  const dir = join(setting.dir, 'twins', basename(dirname(bundleDir)), basename(bundleDir));
  await cp(bundleDir, dir, { recursive: true });
  for (const [name, language] of Object.entries(LANGUAGES)) {
    const file = join(dir, name);
    if (existsSync(file)) await writeFile(file, raisingAtMarker(await readFile(file, 'utf8'), language));
  }
  const outcome = await execute(dir, setting.params, { timeout: TWIN_MS, workspace: setting.workspace });
  const isReached = !outcome.ok && outcome.error.message.includes(REACHED);
  return isReached ? undefined : `a twin that raises in place of the act answered: ${evidenceOf(outcome)}`;
}

async function describe(bundleDir: string): Promise<string> {
  const manifest = parse(await readFile(join(bundleDir, 'manifest.yaml'), 'utf8')) as { description: string };
  return manifest.description;
}
