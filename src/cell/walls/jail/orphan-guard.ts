/**
 * Kills the cells that were starting when their host was killed.
 *
 * `--die-with-parent` has a gap: bwrap requests it only after it has started its child, and fails without ending the child if
 * the host is gone by then. The child waits for bwrap, and would wait forever. So a shell waits for the end of the host, and
 * kills every bwrap that the host started and that has not become the program of its cell.
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { withoutLeaks } from '../../linux/descriptors.ts';

const CLOSED = 'closed';
/** Every 0.1 s. A killed process can take long to end if the machine is busy. */
const MAX_ROUNDS = 600;

/**
 * `$1` identifies the host. Its input ends only when no process holds the other end, so each child that the host had forked has
 * become a bwrap by then, and one search without a match is enough. grep may take a zero byte for the end of a line, so
 * no argument here starts with the name that is searched for.
 */
const SCRIPT = `
read -r word
[ "$word" = ${CLOSED} ] && exit
round=0
while [ $round -lt ${MAX_ROUNDS} ]; do
  found=$(grep -ls "^bwrap-$1-" /proc/[0-9]*/cmdline)
  [ -z "$found" ] && exit
  for file in $found; do
    pid=\${file#/proc/}
    kill -KILL "\${pid%%/*}"
  done
  round=$((round + 1))
  sleep 0.1
done
`;

export class OrphanGuard {
  readonly #id = randomUUID();
  readonly #leaks: number[];
  #names = 0;
  #shell: ChildProcess | undefined;

  /** `leaks`: inheritable descriptors of the host, which the shell must not keep open. */
  constructor(leaks: number[]) {
    this.#leaks = leaks;
  }

  /** A unique `argv[0]` for a bwrap, which is guarded from now on. */
  nextName(): string {
    this.#shell ??= this.#start();
    return `bwrap-${this.#id}-${++this.#names}`;
  }

  /** Call it when all cells have ended. */
  close(): void {
    this.#shell?.stdin?.end(`${CLOSED}\n`);
    this.#shell = undefined;
  }

  #start(): ChildProcess {
    const shell = withoutLeaks(['pipe', 'ignore', 'ignore'], this.#leaks, (stdio) =>
      // In its own session, because a signal to the host's process group must not end it as well.
      spawn('/bin/sh', ['-c', SCRIPT, 'guard', this.#id], {
        env: { PATH: '/usr/bin:/bin' },
        cwd: '/',
        stdio,
        detached: true,
      }),
    );
    shell.once('exit', () => {
      if (this.#shell === shell) this.#shell = undefined;
    });
    // It must not keep the host running.
    shell.unref();
    (shell.stdin as Socket).unref();
    return shell;
  }
}
