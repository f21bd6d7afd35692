/**
 * Measures a cluster on one machine: what it adds to a local call, how it scales with workers, what a flood costs a quiet
 * tenant, and how much work a front end has. Needs a machine that does nothing else. Only loopback, about two minutes.
 *
 *     npm run cluster:bench [-- --seconds 10]
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { quantile } from '../bench/runner/statistics.ts';
import { makeToken } from '../src/http/access-file.ts';
import type { Outcome } from '../src/index.ts';
import { startHttpFront } from '../test/cluster/http-front.ts';
import { openCluster, type ClusterStage, type Front } from '../test/cluster/stage.ts';
import { openFolder, writeSkill } from '../test/write-skill.ts';

const QUICK = { skill: 'text/word_stats', params: { text: 'to be or not to be' } };
const WAITS = { skill: 'bench/waits', params: {} };
const WAIT_SECONDS = 0.12;
const SLOTS = 2;
const WORKERS = 4;
const QUIET_EVERY_MS = 100;
const FLOOD = 64;
const AT_ONCE = 32;
const WARM_UP = 2000;

interface Wanted {
  skill: string;
  params: object;
}

async function call(front: Front, { skill, params }: Wanted, tenantName: string): Promise<Outcome> {
  const outcome = await front.client.execute(skill, params, { tenantName, reject: false });
  if (!outcome.ok && outcome.error.code !== 'resource_exceeded')
    throw new Error(JSON.stringify(outcome.error));
  return outcome;
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

/** Alternating, so that both ways meet the same machine. */
async function addedLatency(front: Front, seconds: number): Promise<object> {
  const local = (): Promise<unknown> => front.runtime.execute(QUICK.skill, QUICK.params, { isolated: true });
  const distant = (): Promise<unknown> => call(front, QUICK, 'acme');
  for (let round = 0; round < 50; round++) for (const way of [local, distant]) await way();
  const times = { local: [] as number[], cluster: [] as number[] };
  const until = Date.now() + seconds * 1000;
  while (Date.now() < until) {
    times.local.push(await timed(local));
    times.cluster.push(await timed(distant));
  }
  const [here, there] = [times.local, times.cluster].map((samples) => quantile(samples, 0.5));
  return {
    calls: times.local.length,
    local_median_ms: rounded(here),
    cluster_median_ms: rounded(there),
    added_ms: rounded((there ?? 0) - (here ?? 0)),
    aim: 'at most 2 ms',
  };
}

/** Ended calls per second of callers that call again at once. */
async function throughput(front: Front, seconds: number): Promise<number> {
  for (let round = 0; round < 3; round++)
    await Promise.all(Array.from({ length: AT_ONCE }, () => call(front, WAITS, 'acme')));
  const until = Date.now() + seconds * 1000;
  let ended = 0;
  const caller = async (): Promise<void> => {
    while (Date.now() < until) {
      await call(front, WAITS, 'acme');
      if (Date.now() < until) ended++;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  return ended / seconds;
}

async function quietTimes(front: Front, seconds: number): Promise<number[]> {
  for (let round = 0; round < 10; round++) await call(front, WAITS, 'quiet');
  const times: Promise<number>[] = [];
  const until = Date.now() + seconds * 1000;
  while (Date.now() < until) {
    times.push(timed(() => call(front, WAITS, 'quiet')));
    await sleep(QUIET_EVERY_MS);
  }
  return Promise.all(times);
}

async function besideFlood(front: Front, seconds: number): Promise<object> {
  const alone = quantile(await quietTimes(front, seconds), 0.99);
  const over = new AbortController();
  const flood = Array.from({ length: FLOOD }, async () => {
    while (!over.signal.aborted) await call(front, WAITS, 'flood');
  });
  const beside = quantile(await quietTimes(front, seconds), 0.99);
  over.abort();
  await Promise.all(flood);
  return {
    quiet_p99_alone_ms: rounded(alone),
    quiet_p99_beside_flood_ms: rounded(beside),
    times: rounded(beside / alone),
    aim: 'at most 2 times',
  };
}

/** CPU time of the whole service process, divided by the calls that it answered. */
async function frontWork(stage: ClusterStage, seconds: number): Promise<object> {
  const { entry, secret } = makeToken({ name: 'bench', tenant: 'acme', scopes: ['call'] });
  const access = join(stage.folder, 'access.json');
  writeFileSync(access, JSON.stringify({ version: 1, tokens: [entry] }), { mode: 0o600 });
  const service = await startHttpFront(stage, ['--access', access, '--bundled']);
  const ask = async (): Promise<void> => {
    const answer = await fetch(`${service.url}/v1/skills/${QUICK.skill}/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ params: QUICK.params }),
    });
    await answer.arrayBuffer();
    if (answer.status !== 200 && answer.status !== 429)
      throw new Error(`The service answered ${answer.status}`);
  };
  // Until V8 has compiled what every call needs: a service runs for days.
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let round = 0; round < WARM_UP / 8; round++) await ask();
    }),
  );
  const before = cpuSeconds(service.pid);
  const until = Date.now() + seconds * 1000;
  let calls = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (Date.now() < until) {
        await ask();
        calls++;
      }
    }),
  );
  const cpu = cpuSeconds(service.pid) - before;
  await service.stop();
  return {
    calls,
    calls_per_second: rounded(calls / seconds),
    front_end_cpu_seconds: rounded(cpu),
    calls_per_core_second: Math.round(calls / cpu),
    aim: 'at least 2,000',
  };
}

/** User and system time, from `/proc/PID/stat`. */
function cpuSeconds(pid: number): number {
  const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticks;
}

function rounded(value: number | undefined): number {
  return Math.round((value ?? Number.NaN) * 100) / 100;
}

async function run(seconds: number): Promise<void> {
  const folder = openFolder();
  writeSkill(folder, {
    id: WAITS.skill,
    source: `import time
def execute(params):
    time.sleep(${WAIT_SECONDS})
    return {}`,
  });
  await using stage = await openCluster({
    folder,
    tenants: ['acme', 'quiet', 'flood'].map((name) => ({ name })),
  });
  const report = (what: string, values: object): void => console.log(JSON.stringify({ what, ...values }));
  const load = loadavg().map((one) => Math.round(one * 10) / 10);
  report('machine', { cores: cpus().length, load_before: load, seconds, slots: SLOTS });
  const front = await stage.startFront('front');
  const slots = ['--slots', String(SLOTS)];
  await stage.startWorker('w1', slots);
  report('added latency', await addedLatency(front, seconds));
  const one = await throughput(front, seconds);
  for (let at = 2; at <= WORKERS; at++) await stage.startWorker(`w${at}`, slots);
  const all = await throughput(front, seconds);
  report('calls that wait 120 ms', {
    with_1_worker_per_second: rounded(one),
    [`with_${WORKERS}_workers_per_second`]: rounded(all),
    times: rounded(all / one),
    aim: 'at least 3.4 times',
  });
  report('quiet tenant', await besideFlood(front, 2 * seconds));
  report('front end', await frontWork(stage, seconds));
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '10' } } });
  await run(Math.min(120, Math.max(1, Number(values.seconds))));
}
