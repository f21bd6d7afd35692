/**
 * The pause process that keeps the user namespace of rootless podman open. It outlives the last container, so a probe
 * has to kill it, unless it existed before the probe.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const NAMES: ReadonlySet<string> = new Set(['catatonit', 'podman', 'podman pause']);

export class PauseProcess {
  readonly #wasThere: boolean;

  /** Create it before the first podman command. */
  constructor() {
    this.#wasThere = pausePid() !== undefined;
  }

  /** Kills the process if it started after us. Call it only if no container is running. */
  end(): void {
    const pid = this.#wasThere ? undefined : pausePid();
    if (pid === undefined) return;
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // It has just exited.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** The pid from podman's pid file, if it belongs to a pause process of this user. */
function pausePid(): number | undefined {
  const uid = process.getuid?.();
  if (uid === undefined || uid === 0) return undefined;
  for (const folder of runFolders(uid)) {
    const pid = Number(readText(join(folder, 'libpod', 'tmp', 'pause.pid')));
    if (pid > 1 && isPause(pid, uid)) return pid;
  }
  return undefined;
}

function runFolders(uid: number): string[] {
  const named = process.env['XDG_RUNTIME_DIR'];
  return [...(named === undefined ? [] : [named]), `/run/user/${uid}`, `/tmp/podman-run-${uid}`];
}

function isPause(pid: number, uid: number): boolean {
  try {
    return statSync(`/proc/${pid}`).uid === uid && NAMES.has(readText(`/proc/${pid}/comm`).trim());
  } catch {
    return false;
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
