/**
 * The processes below a service, told apart by what they are and by the files that they hold open, so that a suite ends the one
 * that it means and no other.
 *
 * @module
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename } from 'node:path';

/** Processes below this one, however deep, parents first. One that ends meanwhile is left out. */
export function descendants(pid: number): number[] {
  const children = list(`/proc/${pid}/task`).flatMap((task) =>
    read(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child].concat(descendants(child)));
}

/** Those that hold this file open. */
export function holders(pids: readonly number[], file: string): number[] {
  const wanted = statSync(file, { throwIfNoEntry: false });
  return pids.filter((pid) =>
    list(`/proc/${pid}/fd`).some((fd) => {
      const found = identify(`/proc/${pid}/fd/${fd}`);
      return found !== undefined && found.ino === wanted?.ino && found.dev === wanted.dev;
    }),
  );
}

/** The file name of its program; what bwrap is to start has that of bwrap until it is started. */
export function programOf(pid: number): string {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`));
  } catch {
    return '';
  }
}

export function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
}

export function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1]);
}

/** Whether it waits for the next frame of the host. */
export function waitsForFrame(pid: number): boolean {
  return /^\d+ 0x3 /.test(read(`/proc/${pid}/syscall`));
}

/** Sends it to those that are still below the service; one may have ended since it was found. */
export function signalBelow(service: number, pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    if (!descendants(service).includes(pid)) continue;
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

function identify(path: string): { ino: number; dev: number } | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
