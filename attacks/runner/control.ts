/**
 * Runs an attack without the wall, to show that it works: in a replica of a host made of fresh namespaces, as
 * root of that replica only. The room ends with everything in it.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Attack } from './expectations.ts';
import { asUser, CONTROL } from './identities.ts';
import type { Setting } from './setting.ts';

const ROOM = join(import.meta.dirname, 'room', 'room.py');
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

export async function runControl(
  attack: Attack,
  setting: Setting,
  bundleDir: string,
): Promise<ControlResult> {
  const order = {
    root: join(setting.dir, 'room'),
    bundle: bundleDir,
    prelude: attack.prelude?.dir,
    secret: setting.secret,
    judge: attack.judge,
    calls: attack.calls,
    seconds: attack.judge === 'hangs' ? 1.5 : 8,
    params: { ...setting.params, ...attack.prelude?.params },
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
