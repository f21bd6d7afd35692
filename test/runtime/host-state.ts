/**
 * Things that a runtime might leave behind on its host: processes, cgroups, open descriptors, files.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { locateOwnCgroups } from '../../src/cell/linux/cgroup/own-cgroup.ts';

/** Pids of all descendants. */
export function descendants(): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(Number(name)) : undefined;
    if (parent !== undefined) parents.set(Number(name), parent);
  }
  const isBelow = (one: number | undefined): boolean =>
    one !== undefined && (one === process.pid || isBelow(parents.get(one)));
  return [...parents].filter(([, parent]) => isBelow(parent)).map(([child]) => child);
}

/** Idle and running cells without zygotes and their forks; each is a bwrap process. */
export function cellCount(): number {
  const isCell = (pid: number): boolean => {
    const command = read(`/proc/${pid}/cmdline`) ?? '';
    return /^bwrap-[\w-]+\0/.test(command) && !command.includes('zygote.py') && parentOf(pid) === process.pid;
  };
  return descendants().filter(isCell).length;
}

/** The first zygote, without the bwrap around it. */
export function zygotePid(): number {
  const [pid] = zygotePids();
  if (pid === undefined) throw new Error('There is no zygote');
  return pid;
}

/** How many calls run in forks of zygotes: processes whose parent runs the same program. */
export function forkCount(): number {
  const zygotes = zygotePids();
  return zygotes.filter((pid) => zygotes.includes(parentOf(pid) ?? 0)).length;
}

function zygotePids(): number[] {
  const isZygote = (pid: number): boolean =>
    /^[^\0]*python[^\0]*\0(?:.*\0)?\/harness\/zygote\.py\0/.test(read(`/proc/${pid}/cmdline`) ?? '');
  return descendants().filter(isZygote);
}

/** Cgroup folders with our pid in their names. */
export function controlGroups(): string[] {
  const own = locateOwnCgroups(read('/proc/self/cgroup') ?? '', read('/proc/self/mountinfo') ?? '');
  const places = [...own.v1.values(), ...(own.v2 ? [own.v2.own, join(own.v2.own, '..')] : [])];
  return [...new Set(places)]
    .filter((place) => existsSync(place))
    .flatMap((place) =>
      readdirSync(place)
        .filter((name) => name.startsWith(`skillcell-${process.pid}-`))
        .map((name) => join(place, name)),
    );
}

export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** Files and folders that must disappear with a call or a zygote. */
export function temporaryFiles(home: string): string[] {
  const run = join(home, 'run');
  const store = join(home, 'store');
  return [
    ...(existsSync(run) ? readdirSync(run) : []),
    ...(existsSync(store) ? readdirSync(store).filter((name) => name.startsWith('.')) : []),
  ];
}

function parentOf(pid: number): number | undefined {
  const text = read(`/proc/${pid}/stat`);
  return text === undefined ? undefined : Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
