/**
 * The load and its faults, phase by phase: only the fast skill, everything, cells killed, the service killed.
 *
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readMachine, type MachineFacts } from '../runner/machine.ts';
import { quantile } from '../runner/statistics.ts';
import { acceptedCalls, runClients, type Tally, type Target } from './clients.ts';
import { isChainIntact, Served, writeAccess } from './served.ts';
import { KINDS, writeSkills, type Kind } from './skills.ts';

export interface LoadSettings {
  clients: number;
  seconds: number;
}

export interface KindReport {
  name: string;
  calls: number;
  p50: number;
  p99: number;
}

export interface LoadReport {
  machine: MachineFacts;
  settings: LoadSettings;
  alone: KindReport[];
  mixed: KindReport[];
  refused: number;
  wrong: string[];
  lost: string[];
  leaked: number;
  /** Resident memory of the service in MiB: after a third of the load, and over its last quarter. */
  memory: { early: number; late: number };
  cellsKilled: { kills: number; right: number; wrong: string[]; lost: string[] };
  serviceKilled: { accepted: number; withReceipt: number; interrupted: number; leaked: number };
  isChainIntact: boolean;
}

/** Duration of each phase with faults. */
const FAULT_SHARE = 0.25;
const KILL_EVERY_MS = 250;
const READERS = 20;

export async function runLoad(settings: LoadSettings): Promise<LoadReport> {
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-load-'));
  try {
    writeSkills(folder);
    const machine = await readMachine(join(folder, 'probe'), 'python');
    const token = writeAccess({ folder, clients: settings.clients });
    const underLoad = await load(folder, token, settings);
    const serviceKilled = await killService(folder, token, settings);
    return { machine, settings, ...underLoad, serviceKilled, isChainIntact: isChainIntact(folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type UnderLoad = Omit<LoadReport, 'machine' | 'settings' | 'serviceKilled' | 'isChainIntact'>;

async function load(folder: string, token: string, { clients, seconds }: LoadSettings): Promise<UnderLoad> {
  const served = await Served.start({ folder, clients });
  const target = { url: served.url, token };
  const allClients = clientsOf(clients);
  const fastOnes = allClients.filter(({ name }) => name === 'fast');
  // Every skill is read and every kind is called before anything is measured.
  await fetch(`${target.url}/v1/skills`, { headers: { authorization: `Bearer ${token}` } });
  await runClients({ target, clients: KINDS, seconds: 2 });
  const alone = await runClients({ target, clients: fastOnes, seconds: Math.max(2, seconds / 4) });
  const memoryFrom = served.memory.length;
  const mixed = await runClients({ target, clients: allClients, seconds });
  const memory = served.memory.slice(memoryFrom);
  const cellsKilled = await killCells(served, token, { clients, seconds });
  const leaked = await served.stop();
  return {
    alone: reportOf(alone),
    mixed: reportOf(mixed),
    refused: mixed.refused,
    wrong: [...alone.wrong, ...mixed.wrong],
    lost: [...alone.lost, ...mixed.lost],
    leaked,
    memory: {
      early: quantile(memory.slice(Math.floor(memory.length / 3), Math.floor(memory.length / 2) + 1), 0.5),
      late: quantile(memory.slice(-Math.ceil(memory.length / 4)), 0.5),
    },
    cellsKilled,
  };
}

/** A killed cell is a failed call: never a wrong result, and never a missing response. */
async function killCells(
  served: Served,
  token: string,
  { clients, seconds }: LoadSettings,
): Promise<LoadReport['cellsKilled']> {
  let kills = 0;
  const killing = setInterval(() => {
    const pid = served.someCell();
    if (pid === undefined) return;
    kills++;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It exited by itself.
    }
  }, KILL_EVERY_MS);
  const tally = await runClients({
    target: { url: served.url, token },
    clients: clientsOf(clients),
    seconds: Math.max(2, seconds * FAULT_SHARE),
    alsoRight: ({ body }) =>
      body.ok === false && body.call_id !== undefined && body.error?.code !== undefined,
  });
  clearInterval(killing);
  return { kills, right: tally.right, wrong: tally.wrong, lost: tally.lost };
}

/** Every call that the service accepted has a receipt after a restart. */
async function killService(
  folder: string,
  token: string,
  { clients, seconds }: LoadSettings,
): Promise<LoadReport['serviceKilled']> {
  const served = await Served.start({ folder, clients });
  const calling = acceptedCalls({ url: served.url, token }, clientsOf(clients));
  await sleep(Math.max(2, seconds * FAULT_SHARE) * 1000);
  const leaked = await served.kill();
  const accepted = await calling;
  const again = await Served.start({ folder, clients });
  let codes: (string | undefined)[] = [];
  try {
    codes = await codesOf({ url: again.url, token }, accepted);
  } finally {
    await again.stop();
  }
  return {
    accepted: accepted.length,
    withReceipt: codes.filter((code) => code !== undefined).length,
    interrupted: codes.filter((code) => code === 'internal').length,
    leaked,
  };
}

/** What the receipts say, a few per request. */
async function codesOf(target: Target, ids: readonly string[]): Promise<(string | undefined)[]> {
  const codes: (string | undefined)[] = [];
  for (let at = 0; at < ids.length; at += READERS) {
    const some = ids.slice(at, at + READERS);
    codes.push(...(await Promise.all(some.map((id) => codeOf(target, id)))));
  }
  return codes;
}

async function codeOf({ url, token }: Target, id: string): Promise<string | undefined> {
  const response = await fetch(`${url}/v1/receipts/${id}`, { headers: { authorization: `Bearer ${token}` } });
  const { receipt } = (await response.json()) as { receipt?: { code: string } };
  return receipt?.code;
}

/** The kinds in their shares, one entry for each client. */
function clientsOf(count: number): Kind[] {
  return KINDS.flatMap((kind) =>
    Array.from({ length: Math.max(1, Math.round(count * kind.share)) }, () => kind),
  );
}

function reportOf({ times }: Tally): KindReport[] {
  return Object.entries(times).map(([name, taken]) => ({
    name,
    calls: taken.length,
    p50: quantile(taken, 0.5),
    p99: quantile(taken, 0.99),
  }));
}
