/**
 * Runs an attack through the gateway without a gateway: in its own network namespace, with the same servers.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ControlResult } from '../runner/control.ts';
import { asUser, CONTROL } from '../runner/identities.ts';
import type { NetworkAttack } from './attack.ts';
import { ROOM_DIR, SKILL_DIR, type NetworkStage } from './stage.ts';

const NAMESPACES = ['--user', '--map-root-user', '--net', '--pid', '--fork', '--kill-child'];
/** For each try: on a busy machine, an act that takes a moment takes many, and a control that was too slow shows nothing. */
const SECONDS = [12, 60, 180] as const;
const GRACE_MS = 30_000;

export async function runNetworkControl(
  attack: NetworkAttack,
  stage: NetworkStage,
  params: Record<string, unknown>,
): Promise<ControlResult> {
  let result: ControlResult = { works: false, evidence: '' };
  for (const seconds of SECONDS) {
    result = await runOnce(attack, stage, { params, seconds });
    if (result.works) break;
  }
  return result;
}

async function runOnce(
  attack: NetworkAttack,
  { ports, secret, value }: NetworkStage,
  { params, seconds }: { params: Record<string, unknown>; seconds: number },
): Promise<ControlResult> {
  const order = {
    ports,
    secret,
    value,
    params,
    through: attack.control,
    skill: SKILL_DIR,
    seconds,
  };
  const program = join(ROOM_DIR, 'room.py');
  const room = spawn('/usr/bin/unshare', [...NAMESPACES, '/usr/bin/python3', '-I', '-B', program], {
    ...asUser(CONTROL),
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: seconds * 1000 + GRACE_MS,
    killSignal: 'SIGKILL',
  });
  room.stdin.end(`${JSON.stringify(order)}\n`);
  const [answer, complaint] = await Promise.all([text(room.stdout), text(room.stderr)]);
  try {
    return JSON.parse(answer) as ControlResult;
  } catch {
    return { works: false, evidence: `The control room failed: ${complaint.trim().slice(-300)}` };
  }
}
