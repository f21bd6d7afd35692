/**
 * Kills workers, front ends and servers of a cluster at random while calls run, and then counts: no call ran twice, none is
 * lost without a word, all chains verify. Only loopback, bounded in time, ends only processes that it started.
 *
 *     npm run cluster:chaos -- [--servers 1|3] [--seconds 60] [--worker-every 1500] [--front-every 10000] [--ack-wait 10000] [--seed 1]
 *
 * @module
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadavg } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { verifyCluster } from '../src/api/cluster.ts';
import { allRows } from '../src/cluster/receipts.ts';
import { openCluster, type ClusterStage, type WorkerProcess } from '../test/cluster/stage.ts';
import { openFolder, writeSkill } from '../test/write-skill.ts';
import { leftovers } from './cluster-leftovers.ts';
import { ROOT } from './steps.ts';

const WORKERS = ['w1', 'w2', 'w3', 'w4'];
const FRONTS = ['f1', 'f2'];
const SETTLE_MS = 120_000;

interface Plan {
  seconds: number;
  workerEvery: number;
  frontEvery: number;
  ackWait: number;
  random: () => number;
}

/** What the front ends saw. */
interface Seen {
  accepted: Set<string>;
  ended: Map<string, string>;
}

interface Front {
  name: string;
  child: ChildProcess;
}

/** Small and seeded, so that a run can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function writeSkills(folder: string): string {
  const workspace = join(folder, 'effects');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'log'), '');
  // Cells of a root host run as another user.
  chmodSync(workspace, 0o777);
  chmodSync(join(workspace, 'log'), 0o666);
  writeSkill(folder, {
    id: 'chaos/effect',
    manifest: {
      parameters: { type: 'object' },
      capabilities: { filesystem: [{ path: '${workspace}', access: 'read-write' }] },
    },
    source: `import time
def execute(params):
    time.sleep(params["seconds"])
    with open(params["file"], "a") as log:
        log.write(params["key"] + "\\n")
    return {"key": params["key"]}`,
  });
  return workspace;
}

function startFront(stage: ClusterStage, name: string, seen: Seen): Front {
  const child = spawn(
    process.execPath,
    [join(ROOT, 'scripts/cluster-chaos-front.ts'), stage.url, name, stage.folder],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, code } = JSON.parse(line) as { id: string; code?: string };
    if (code === undefined) seen.accepted.add(id);
    else seen.ended.set(id, code);
  });
  return { name, child };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

/** Of every worker, also of the killed ones. */
const pids = new Set<number>();
const kills = { workers: 0, fronts: 0, servers: 0, stops: 0 };

async function hurtWorkers(
  stage: ClusterStage,
  workers: WorkerProcess[],
  { plan, until }: { plan: Plan; until: number },
): Promise<void> {
  const args = workerArgs(stage);
  while (Date.now() < until) {
    await sleep(plan.workerEvery);
    const at = Math.floor(plan.random() * workers.length);
    const worker = workers[at];
    if (!worker) continue;
    if (plan.random() < 0.2) {
      // A machine that stalls and comes back.
      kills.stops++;
      worker.child.kill('SIGSTOP');
      await sleep(2000);
      worker.child.kill('SIGCONT');
    } else {
      kills.workers++;
      await worker.kill('SIGKILL');
      workers[at] = await startAgain(stage, worker.name, args);
    }
  }
}

async function hurtFronts(
  stage: ClusterStage,
  fronts: Front[],
  { plan, seen, until }: { plan: Plan; seen: Seen; until: number },
): Promise<void> {
  while (Date.now() + plan.frontEvery < until) {
    await sleep(plan.frontEvery);
    const at = Math.floor(plan.random() * fronts.length);
    const front = fronts[at];
    if (!front) continue;
    kills.fronts++;
    await end(front.child, 'SIGKILL');
    fronts[at] = startFront(stage, front.name, seen);
  }
}

/** As a service manager does: a worker ends if no server answers when it starts. */
async function startAgain(stage: ClusterStage, name: string, args: string[]): Promise<WorkerProcess> {
  const until = Date.now() + SETTLE_MS;
  for (;;) {
    try {
      const worker = await stage.startWorker(name, args);
      pids.add(worker.child.pid ?? 0);
      return worker;
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
}

/** Twice, a third and two thirds into the run. */
async function hurtServers({ servers }: ClusterStage, { seconds, random }: Plan): Promise<void> {
  for (let round = 0; round < 2; round++) {
    await sleep((seconds * 1000) / 3);
    const server = servers[Math.floor(random() * servers.length)];
    kills.servers++;
    await server?.kill();
    await sleep(500);
    await server?.start();
  }
}

function workerArgs(stage: ClusterStage): string[] {
  return ['--slots', '2', '--workspace', join(stage.folder, 'effects')];
}

async function run(servers: number, plan: Plan): Promise<boolean> {
  const folder = openFolder();
  const workspace = writeSkills(folder);
  await using stage = await openCluster({
    folder,
    servers,
    replicas: servers,
    tenants: [{ name: 'acme' }],
    ackWaitMs: plan.ackWait,
  });
  const workers = await Promise.all(WORKERS.map((name) => startAgain(stage, name, workerArgs(stage))));
  const seen: Seen = { accepted: new Set(), ended: new Map() };
  const fronts = FRONTS.map((name) => startFront(stage, name, seen));
  const until = Date.now() + plan.seconds * 1000;
  await Promise.all([
    hurtWorkers(stage, workers, { plan, until }),
    hurtFronts(stage, fronts, { plan, seen, until }),
    hurtServers(stage, plan),
  ]);
  // No new calls; the last ones end.
  for (const { child } of fronts) child.stdin?.end();
  for (const { child } of fronts) if (child.exitCode === null) await once(child, 'exit');
  const passed = await judge(stage, seen, join(workspace, 'log'));
  for (const worker of workers) await worker.kill('SIGTERM');
  const left = await leftovers(stage, { workers: WORKERS, pids });
  console.log(JSON.stringify({ leftovers: left, load: loadavg().map((load) => Math.round(load)) }, null, 2));
  return passed && Object.values(left).every((one) => one.length === 0);
}

async function judge(stage: ClusterStage, seen: Seen, log: string): Promise<boolean> {
  const verified = await verifyCluster(stage.admin, { settleMs: SETTLE_MS });
  const receipts = new Set<string>();
  for await (const { row } of allRows(stage.admin))
    if (row) receipts.add((JSON.parse(row.body) as { call_id: string }).call_id);
  const effects = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const twice = effects.length - new Set(effects).size;
  const withoutReceipt = [...seen.accepted].filter((id) => !receipts.has(id));
  // Their front end was killed, so nobody waited when their deadline passed; they never began.
  const silent = withoutReceipt.filter((id) => seen.ended.has(id));
  const codes: Record<string, number> = {};
  for (const code of seen.ended.values()) codes[code] = (codes[code] ?? 0) + 1;
  console.log(
    JSON.stringify(
      {
        servers: stage.servers.length,
        kills,
        accepted: seen.accepted.size,
        ended: codes,
        receipts: verified.receipts,
        effects: effects.length,
        ran_twice: twice,
        ended_without_receipt: silent.length,
        expired_with_their_front_end: withoutReceipt.length - silent.length,
        problems: verified.problems.slice(0, 20),
      },
      null,
      2,
    ),
  );
  return twice === 0 && silent.length === 0 && verified.ok;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      servers: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '60' },
      'worker-every': { type: 'string', default: '1500' },
      'front-every': { type: 'string', default: '10000' },
      'ack-wait': { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
    },
  });
  const passed = await run(Number(values.servers), {
    seconds: Math.min(600, Number(values.seconds)),
    workerEvery: Number(values['worker-every']),
    frontEvery: Number(values['front-every']),
    ackWait: Number(values['ack-wait']),
    random: randomFrom(Number(values.seed)),
  });
  process.exitCode = passed ? 0 : 1;
}
