/**
 * A Python child that waits for a signal, so that a test can set limits before its program runs.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { PYTHON, UNPRIVILEGED } from './jailed-python.ts';

export interface GatedPython {
  pid: number;
  child: ChildProcessByStdio<Writable, Readable, null>;
  /** Lets the program run. */
  release: () => void;
  /** The next line of its output. */
  line: () => Promise<string>;
  /** Its exit code or signal. */
  exited: Promise<number | NodeJS.Signals | null>;
}

export async function startGatedPython(program: string): Promise<GatedPython> {
  const code = `import sys\nprint("ready", flush=True)\nsys.stdin.readline()\n${program}`;
  const child = spawn(PYTHON, ['-I', '-S', '-c', code], {
    ...UNPRIVILEGED,
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit').then(
    ([status, signal]) => (status ?? signal) as number | NodeJS.Signals | null,
  );
  const lines = child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false });
  const line = async (): Promise<string> => String((await lines.next()).value).trim();
  await line();
  if (child.pid === undefined) throw new Error('Python did not start');
  return { pid: child.pid, child, release: () => void child.stdin.write('\n'), line, exited };
}
