/**
 * The process by which podman of an ordinary user keeps its user namespace open. It stays when the last container is gone,
 * so whoever only looked whether podman works has to end it; one that was there before belongs to somebody else.
 *
 * @module
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const NAMES: ReadonlySet<string> = new Set(['catatonit', 'podman', 'podman pause']);

export class PauseProcess {
  readonly #wasThere: boolean;

  /** To be made before podman is first called. */
  constructor() {
    this.#wasThere = pausePid() !== undefined;
  }

  /** Ends it if it came after us; only when no container runs. */
  end(): void {
    const pid = this.#wasThere ? undefined : pausePid();
    if (pid === undefined) return;
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      // It ended by itself a moment ago.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** The pid that podman wrote down, if a process of ours of that name has it. */
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
