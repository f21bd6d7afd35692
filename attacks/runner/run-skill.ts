/**
 * Runs an attack by a skill: once without the wall, to show that it works, and once through the runtime, where it must not work.
 *
 * @module
 */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outcome } from '../../src/for-attacks.ts';
import type { NoControl } from './attack.ts';
import { finishRow, type AttackRow, type BenignCall, type CorpusName, type Execute } from './attack-row.ts';
import { readAttack, writeBundle, type SkillCorpus } from './attack-source.ts';
import type { BundleStage, StagedAttack } from './bundle-stage.ts';
import { runSkillControl, type ControlResult } from './control.ts';
import { raiseInFiles, REACHED } from './marker.ts';
import { evidenceOf, successIn } from './outcome-view.ts';
import { ATTACKS_DIR } from './places.ts';
import { callUntilStopped, missingProof } from './proof.ts';
import { startWeb } from './scene.ts';
import { openSetting, type Setting } from './setting.ts';
import type { SkillAttack } from './skill-attack.ts';

/** A twin only loads. */
const TWIN_MS = 60_000;

/** Skills that are attacked in the same way. */
export interface Corpus {
  /** Name in the table of results. */
  name: CorpusName;
  source: SkillCorpus;
  benign: BenignCall;
  /** The program of the control room that calls them, if not Python. */
  harness?: string;
}

const PYTHON_BENIGN = benignIn('benign');
export const SUBPROCESS: Corpus = { name: 'subprocess', source: 'subprocess', benign: PYTHON_BENIGN };
export const CONTAINER: Corpus = { name: 'container', source: 'subprocess', benign: PYTHON_BENIGN };
export const PYTHON: Corpus = {
  name: 'python-wasm',
  source: 'python-wasm',
  benign: { ...PYTHON_BENIGN, execution: 'wasm' },
};
export const JAVASCRIPT: Corpus = {
  name: 'js-wasm',
  source: 'js-wasm',
  benign: { ...benignIn('benign_js'), execution: 'wasm' },
  harness: 'naive_js.mjs',
};

function benignIn(folder: string): BenignCall {
  return { dir: join(ATTACKS_DIR, 'runner', folder), params: { a: 2, b: 40 }, answer: '{"sum":42}' };
}

export interface SkillRun {
  corpus: Corpus;
  secret: string;
  execute: Execute;
  /** Whether each attack is also shown to work without the wall. */
  controls: boolean;
  stage: BundleStage;
}

/** An attack with the host around it. */
export interface SkillScene {
  setting: Setting;
  corpus: Corpus;
  bundleDir: string;
  /** Port of the web server; 0 if there is none. */
  webPort: number;
  links: Record<string, string>;
}

export async function runSkillAttack(attack: SkillAttack, run: SkillRun): Promise<AttackRow> {
  const { corpus, secret, execute, stage } = run;
  const bundle = stage.attack(corpus.source, attack.bundle);
  await using setting = await openSetting(secret, bundle.dir);
  await using web = attack.web ? await startWeb(setting) : undefined;
  const scene = await openScene(attack, { setting, corpus, bundle, webPort: web?.port ?? 0 });
  const control = run.controls ? await controlOf(attack, scene) : { none: 'Not run.' };
  const before = await callPrelude(attack, scene, run);
  const outcomes = await callJailed(attack, scene, execute);
  const harm = [...outcomes.flatMap((outcome) => successIn(outcome, secret)), ...(await setting.harm())];
  const didNotRun = before ?? (attack.loads ? await twinFails(attack, scene, execute) : undefined);
  const { name, description = bundle.description } = attack;
  const facts = { corpus: corpus.name, name, description, control, outcomes, didNotRun, harm };
  const proof = attack.loads ? 'answer' : 'marker';
  const benign = { ...corpus.benign, dir: stage.helper(corpus.benign.dir) };
  return finishRow({ ...facts, proof, expected: attack }, execute, benign);
}

interface Place extends Omit<SkillScene, 'bundleDir' | 'links'> {
  bundle: StagedAttack;
}

async function openScene(attack: SkillAttack, { bundle, ...place }: Place): Promise<SkillScene> {
  const { workspace, params } = place.setting;
  const links: Record<string, string> = attack.link ? { link: params.secret_file } : {};
  for (const [name, target] of Object.entries(links)) await symlink(target, join(workspace, name));
  if (place.webPort !== 0) bundle.declare({ capabilities: { network: [ruleFor(place.webPort)] } });
  return { ...place, bundleDir: bundle.dir, links };
}

/** For the open part of the server, whose port is known only now. */
function ruleFor(port: number): Record<string, unknown> {
  return { host: '127.0.0.1', port, scheme: 'http', methods: ['GET'], paths: ['/open/*'] };
}

async function controlOf(attack: SkillAttack, scene: SkillScene): Promise<ControlResult | NoControl> {
  return 'none' in attack.control ? attack.control : runSkillControl(attack, scene, attack.control.judge);
}

/** Why the call before the attack failed, if it did. */
async function callPrelude(
  { prelude, timeout }: SkillAttack,
  { setting: { params, workspace } }: SkillScene,
  { execute, stage }: SkillRun,
): Promise<string | undefined> {
  if (prelude === undefined) return undefined;
  const dir = stage.helper(prelude.dir);
  const outcome = await execute(dir, { ...params, ...prelude.params }, { timeout, workspace });
  return outcome.ok ? undefined : `the call before it failed: ${evidenceOf(outcome)}`;
}

async function callJailed(attack: SkillAttack, scene: SkillScene, execute: Execute): Promise<Outcome[]> {
  const { setting, webPort, bundleDir } = scene;
  const { workspace } = setting;
  const shared = { ...setting.params, web_port: webPort, ...attack.prelude?.params };
  const callWith = (own: Record<string, unknown>): Promise<Outcome> =>
    callUntilStopped(
      (timeout) => execute(bundleDir, { ...shared, ...own }, { timeout, workspace }),
      attack,
      (ended) => attack.loads === true || missingProof(ended, 'marker', attack) === undefined,
    );
  if (attack.together) return Promise.all(attack.calls.map(callWith));
  const outcomes: Outcome[] = [];
  for (const own of attack.calls) outcomes.push(await callWith(own));
  return outcomes;
}

/** Why it is not proven that the attack reaches its act: a twin that raises there did not. */
async function twinFails(
  { bundle }: SkillAttack,
  { setting, corpus }: SkillScene,
  execute: Execute,
): Promise<string | undefined> {
  const { manifest, files } = readAttack(corpus.source, bundle);
  const dir = join(setting.dir, 'twins', corpus.source, bundle);
  writeBundle(dir, { manifest, files: raiseInFiles(files) });
  const outcome = await execute(dir, setting.params, { timeout: TWIN_MS, workspace: setting.workspace });
  const isReached = !outcome.ok && outcome.error.message.includes(REACHED);
  return isReached ? undefined : `a twin that raises in place of the act answered: ${evidenceOf(outcome)}`;
}
