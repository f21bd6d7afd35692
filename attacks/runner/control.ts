/**
 * Runs an attack without the wall, to show that it works: in a replica of a host made of fresh namespaces, as
 * root of that replica only. The room and everything in it end together.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { findNode } from '../../src/for-attacks.ts';
import type { WasmAttack } from '../wasm/attack.ts';
import type { Judge } from './attack.ts';
import { asUser, CONTROL } from './identities.ts';
import { ATTACKS_DIR } from './places.ts';
import { REACHED } from './marker.ts';
import type { SkillScene } from './run-skill.ts';
import type { OpenScene } from './scene.ts';
import type { Setting } from './setting.ts';
import type { SkillAttack } from './skill-attack.ts';

const ROOM = join(ATTACKS_DIR, 'runner', 'room', 'room.py');
const NAMESPACES = [
  '--user',
  '--map-root-user',
  '--net',
  '--pid',
  '--mount',
  '--ipc',
  '--uts',
  '--fork',
  '--kill-child',
];
const GRACE_MS = 10_000;

export interface ControlResult {
  works: boolean;
  evidence: string;
}

/** What room/room.py receives in addition to the setting. */
interface Order {
  bundle: string;
  judge: Judge;
  /** What each call adds to the params. */
  calls: readonly Record<string, unknown>[];
  params: Record<string, unknown>;
  prelude?: string | undefined;
  /** What the attack prints when it is reached; a control that ends before that has shown nothing. */
  marker?: string;
  /** The Node that runs attacks in other languages than Python. */
  node?: string;
  /** The program it runs; absent: the host of Wasm attacks. */
  harness?: string;
  links?: Record<string, string>;
  fifos?: readonly string[];
  swap?: boolean;
  web_port?: number;
}

export function runWasmControl(attack: WasmAttack, scene: OpenScene, judge: Judge): Promise<ControlResult> {
  const { setting } = scene;
  return runRoom(setting, {
    bundle: scene.controlDir,
    judge,
    calls: Array.from({ length: attack.calls }, () => ({ given: attack.params(scene) })),
    params: { ...setting.params },
    node: findNode(setting.dir).path,
    links: scene.links,
    fifos: attack.fifos,
    swap: attack.swap,
    web_port: scene.webPort,
  });
}

export function runSkillControl(
  { prelude, calls }: SkillAttack,
  { setting, corpus, bundleDir, webPort, links }: SkillScene,
  judge: Judge,
): Promise<ControlResult> {
  return runRoom(setting, {
    bundle: bundleDir,
    prelude: prelude?.dir,
    judge,
    marker: REACHED,
    calls,
    params: { ...setting.params, web_port: webPort, ...prelude?.params },
    ...(corpus.harness === undefined ? {} : { node: findNode(setting.dir).path, harness: corpus.harness }),
    links,
    web_port: webPort,
  });
}

/** A control that shows nothing gets a second try: on a busy machine, its deadline may come before its act. */
async function runRoom(setting: Setting, order: Order): Promise<ControlResult> {
  const first = await tryRoom(setting, order);
  return first.works ? first : tryRoom(setting, order);
}

async function tryRoom(setting: Setting, told: Order): Promise<ControlResult> {
  const order = {
    ...told,
    root: join(setting.dir, 'room'),
    secret: setting.secret,
    seconds: told.judge === 'hangs' ? 1.5 : 30,
  };
  const room = spawn('/usr/bin/unshare', [...NAMESPACES, '/usr/bin/python3', '-I', '-B', ROOM], {
    ...asUser(CONTROL),
    env: { PATH: '/usr/bin:/bin', HOST_SECRET: setting.secret },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: order.seconds * 1000 + GRACE_MS,
    killSignal: 'SIGKILL',
  });
  room.stdin.end(`${JSON.stringify(order)}\n`);
  const [answer, complaint] = await Promise.all([text(room.stdout), text(room.stderr)]);
  return parseAnswer(answer, complaint);
}

function parseAnswer(answer: string, complaint: string): ControlResult {
  try {
    return JSON.parse(answer) as ControlResult;
  } catch {
    return { works: false, evidence: `The control room failed: ${complaint.trim().slice(-300)}` };
  }
}
