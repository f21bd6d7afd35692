/**
 * What a run of `cluster-chaos.ts` left behind: processes, cgroups, temporary files, messages and consumers. Only looks.
 *
 * @module
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { makeRunFolder } from '../src/cell/linux/run-folder.ts';
import { placeOfConsumer } from '../src/cluster/names.ts';
import type { ClusterStage } from '../test/cluster/stage.ts';
import { temporaryFiles } from '../test/runtime/host-state.ts';

/** What ran. */
export interface Run {
  workers: readonly string[];
  /** Of every worker that was started. */
  pids: ReadonlySet<number>;
}

export interface Leftovers {
  processes: string[];
  cgroups: string[];
  files: string[];
  messages: string[];
  consumers: string[];
}

/** The servers remove what nobody uses after some seconds. */
const SETTLE_MS = 60_000;
const PAUSE_MS = 2000;

/** Once all workers have ended. */
export async function leftovers(stage: ClusterStage, run: Run): Promise<Leftovers> {
  const until = Date.now() + SETTLE_MS;
  for (;;) {
    const manager = await jetstreamManager(stage.admin);
    const found: Leftovers = {
      processes: processesOf(stage.folder),
      cgroups: cgroupsOf(run.pids),
      files: run.workers.flatMap((name) => filesOf(join(stage.folder, `home-${name}`))),
      messages: await waitingMessages(manager),
      consumers: await foreignConsumers(manager),
    };
    if (Object.values(found).every((one: string[]) => one.length === 0) || Date.now() > until) return found;
    await sleep(PAUSE_MS);
  }
}

/** Of a killed worker, the next process with its home removes the folder of its sockets. */
function filesOf(home: string): string[] {
  makeRunFolder(home, 0).remove();
  return temporaryFiles(home);
}

/** Cells, workers and front ends work below the folder of the run. Servers are stopped later. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        const isOurs = command.includes(folder) || readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
        return isOurs && !command.includes('nats-server') ? [`${pid} ${command.slice(0, 200)}`] : [];
      } catch {
        // It has ended, or belongs to somebody else.
        return [];
      }
    });
}

/** Cgroups have the process that made them in their names; those of other runs on this machine do not count. */
function cgroupsOf(pids: ReadonlySet<number>, folder = '/sys/fs/cgroup'): string[] {
  return foldersIn(folder).flatMap((name) => {
    const owner = /^skillcell-(\d+)-/.exec(name)?.[1];
    if (owner !== undefined) return pids.has(Number(owner)) ? [join(folder, name)] : [];
    return cgroupsOf(pids, join(folder, name));
  });
}

/** Empty for a cgroup that has just disappeared. */
function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((one) =>
      one.isDirectory() ? [one.name] : [],
    );
  } catch {
    return [];
  }
}

async function waitingMessages(manager: JetStreamManager): Promise<string[]> {
  const { state } = await manager.streams.info('SC_CALLS');
  return state.messages === 0 ? [] : [`${state.messages} calls in the queue`];
}

async function foreignConsumers(manager: JetStreamManager): Promise<string[]> {
  const found: string[] = [];
  for await (const stream of manager.streams.list())
    for await (const { name } of manager.consumers.list(stream.config.name))
      if (placeOfConsumer(name) === undefined) found.push(`${name} of ${stream.config.name}`);
  return found;
}
