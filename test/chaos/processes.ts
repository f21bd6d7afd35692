/**
 * The descendant processes of a service, identified by their program and open files, so that a suite kills exactly the one it
 * wants.
 *
 * @module
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { basename } from 'node:path';

/** All descendants of a process, parents first, without those that end during the search. */
export function descendants(pid: number): number[] {
  const children = list(`/proc/${pid}/task`).flatMap((task) =>
    read(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child].concat(descendants(child)));
}

/** The processes that have this file open. */
export function holders(pids: readonly number[], file: string): number[] {
  return pids.filter((pid) => list(`/proc/${pid}/fd`).some((fd) => isFile(`/proc/${pid}/fd/${fd}`, file)));
}

/** The processes of the whole machine that have something of this folder among their mounts. */
export function seeing(folder: string): number[] {
  return list('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && read(`/proc/${pid}/mountinfo`).includes(folder));
}

/** Whether it executes this file. */
export function executes(pid: number, file: string): boolean {
  return isFile(`/proc/${pid}/exe`, file);
}

/** The file name of its program; a child of bwrap has that of bwrap until its program starts. */
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

/** Whether it is in a system call on this file, such as a blocked read. */
export function readsFrom(pid: number, file: string): boolean {
  const fd = /^\d+ 0x([0-9a-f]+) /.exec(read(`/proc/${pid}/syscall`))?.[1];
  return fd !== undefined && isFile(`/proc/${pid}/fd/${Number.parseInt(fd, 16)}`, file);
}

/** Whether it waits for the next frame from the host. */
export function waitsForFrame(pid: number): boolean {
  return /^\d+ 0x3 /.test(read(`/proc/${pid}/syscall`));
}

/** Sends a signal to those that are still descendants of the service; one may have ended since it was found. */
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

function isFile(path: string, file: string): boolean {
  const [found, wanted] = [identify(path), identify(file)];
  return found !== undefined && found.ino === wanted?.ino && found.dev === wanted.dev;
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
