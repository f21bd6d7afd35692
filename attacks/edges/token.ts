/**
 * The admin token of `serve`, which must not appear in a log.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Outcome, packageRoot } from '../../src/for-attacks.ts';
import { group, type TrustAttack } from '../trust/attack.ts';
import { asOutcome, type TrustStage } from '../trust/stage.ts';
import { didNotRun } from './words.ts';

const STARTED = 'Console: ';
const START_MS = 60_000;

interface Started {
  child: ChildProcess;
  said: string;
}

/** Starts a program and collects its output until it mentions the console. */
async function start(program: string, args: string[], stage: TrustStage): Promise<Started> {
  const env = { PATH: process.env['PATH'], SKILLCELL_HOME: join(stage.dir, 'home'), NO_COLOR: '1' };
  const child = spawn(program, args, { cwd: stage.project, env, timeout: START_MS });
  let said = '';
  const spoken = new Promise<void>((resolve) => {
    const hear = (text: Buffer): void => {
      said += text.toString('utf8');
      if (said.slice(said.indexOf(STARTED)).includes('\n') && said.includes(STARTED)) resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
  });
  await Promise.race([spoken, once(child, 'exit')]);
  return { child, said };
}

async function stop({ child }: Started): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

const SERVE = [join(packageRoot(), 'bin', 'skillcell.js'), 'serve', '--port', '0'];

async function servesIntoPipe(stage: TrustStage): Promise<Outcome> {
  const started = await start(process.execPath, SERVE, stage);
  const file = /token in (\S+), valid/.exec(started.said)?.[1] ?? '';
  const secret = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  await stop(started);
  return asOutcome(() => {
    if (secret === '' && !started.said.includes('token=')) throw didNotRun(`no token: ${started.said}`);
    const isSaid = started.said.includes('token=') || (secret !== '' && started.said.includes(secret));
    return {
      succeeded: isSaid,
      evidence: isSaid ? 'the token is in the pipe' : `it is in a separate file`,
    };
  });
}

/** Uses a terminal instead of a pipe, as a program that records a terminal does. */
const ON_TERMINAL = `
import os, signal, subprocess, sys
master, slave = os.openpty()
child = subprocess.Popen(sys.argv[1:], stdout=slave, stderr=slave, stdin=subprocess.DEVNULL)
os.close(slave)
signal.signal(signal.SIGTERM, lambda *_: child.terminate())
try:
    while chunk := os.read(master, 65536):
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
except OSError:
    pass
sys.exit(child.wait())
`;

async function servesOnTerminal(stage: TrustStage): Promise<string | undefined> {
  const started = await start(
    '/usr/bin/python3',
    ['-I', '-c', ON_TERMINAL, process.execPath, ...SERVE],
    stage,
  );
  await stop(started);
  return started.said.includes('token=')
    ? 'a terminal shows the token, and so does a recording of it'
    : undefined;
}

export const TOKEN_ATTACKS: readonly TrustAttack[] = group(['ok'], {
  admin_token_in_a_log: {
    description: 'Searches the log of a service for its admin token.',
    attempt: servesIntoPipe,
    control: servesOnTerminal,
  },
});
