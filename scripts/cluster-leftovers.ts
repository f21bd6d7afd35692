/**
 * What a run of `cluster-chaos.ts` left behind: processes, cgroups, temporary files, messages and consumers. Only looks.
 *
 * @module
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { placeOfConsumer } from '../src/cluster/names.ts';
import type { ClusterStage } from '../test/cluster/stage.ts';

export interface HostState {
  files: ReadonlySet<string>;
  cgroups: ReadonlySet<string>;
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

/** Before the run, so that what other programs left does not count. */
export function hostState(): HostState {
  return { files: temporaryFiles(), cgroups: cgroups() };
}

/** Once all workers have ended. */
export async function leftovers(stage: ClusterStage, folder: string, before: HostState): Promise<Leftovers> {
  const until = Date.now() + SETTLE_MS;
  for (;;) {
    const manager = await jetstreamManager(stage.admin);
    const found: Leftovers = {
      processes: processesOf(folder),
      cgroups: [...cgroups()].filter((name) => !before.cgroups.has(name) && isOfNobody(name)),
      files: [...temporaryFiles()].filter((name) => !before.files.has(name) && !folder.endsWith(name)),
      messages: await waitingMessages(manager),
      consumers: await foreignConsumers(manager),
    };
    if (Object.values(found).every((one: string[]) => one.length === 0) || Date.now() > until) return found;
    await sleep(PAUSE_MS);
  }
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

function temporaryFiles(): Set<string> {
  return new Set(readdirSync(tmpdir()).filter((name) => name.startsWith('skillcell-')));
}

function cgroups(): Set<string> {
  try {
    const found = readdirSync('/sys/fs/cgroup', { recursive: true, withFileTypes: true });
    return new Set(
      found
        .filter((one) => one.isDirectory() && one.name.includes('skillcell'))
        .map(({ parentPath, name }) => join(parentPath, name)),
    );
  } catch {
    return new Set();
  }
}

/** Other runs on this machine have cgroups too; those have processes. */
function isOfNobody(cgroup: string): boolean {
  try {
    return readFileSync(join(cgroup, 'cgroup.procs'), 'utf8') === '';
  } catch {
    return false;
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
