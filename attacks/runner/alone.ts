/**
 * Runs what a control needs to show: as a user who owns nothing on the machine, in a network namespace that was created for
 * it and has only a loopback. When the first process exits, all of them end.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { asUser, CONTROL } from './identities.ts';
import { ATTACKS_DIR } from './places.ts';

const run = promisify(execFile);
const ALONE = join(ATTACKS_DIR, 'runner', 'room', 'alone.py');
const NAMESPACES = ['--user', '--map-root-user', '--net', '--pid', '--ipc', '--fork', '--kill-child'];
const ALONE_MS = 60_000;

/** Returns what the program wrote. Throws if it failed or took too long. */
export async function runAlone(program: string, args: readonly string[]): Promise<string> {
  const command = [
    '/usr/bin/python3',
    '-I',
    '-B',
    ALONE,
    readlinkSync('/proc/self/ns/net'),
    program,
    ...args,
  ];
  const { stdout } = await run('/usr/bin/unshare', [...NAMESPACES, ...command], {
    ...asUser(CONTROL),
    cwd: '/',
    env: {},
    timeout: ALONE_MS,
    killSignal: 'SIGKILL',
  });
  return stdout;
}
