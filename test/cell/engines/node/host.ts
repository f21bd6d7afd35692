/**
 * A program that uses the library and runs skills in its own process. It reads its job from stdin and prints the outcomes
 * to stdout, where a skill must not be able to print anything.
 *
 * @module
 */
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRuntime, type ExecuteOptions, type Outcome } from '../../../../src/index.ts';
import { DEFAULT_POLICY, parsePolicy } from '../../../../src/policy/operator.ts';

export interface HostJob {
  home: string;
  cwd: string;
  policy?: string;
  calls: { dir: string; params: unknown; options?: ExecuteOptions; abortAfter?: number }[];
  /** Runs all calls concurrently. */
  together?: boolean;
  /** How long the runtime stays open after the last call. */
  lingerMs?: number;
}

export interface HostReport {
  pid: number;
  outcomes: Outcome[];
  /** The parameters after the calls. */
  params: unknown[];
  receipts: number;
  /** Whether the original streams were restored. */
  isRestored: boolean;
}

const job = JSON.parse(await text(process.stdin)) as HostJob;
const policy = job.policy === undefined ? DEFAULT_POLICY : parsePolicy(job.policy, { file: 'policy.yaml' });
const writers = (): unknown[] =>
  [process.stdout, process.stderr].map((stream: { write: unknown }) => stream.write);
const before = writers();
const runtime = createRuntime({ home: job.home, cwd: job.cwd, policy });
const work = job.calls.map(({ dir, params, options, abortAfter }) => (): Promise<Outcome> => {
  const signal = abortAfter === undefined ? {} : { signal: AbortSignal.timeout(abortAfter) };
  return runtime.execute(dir, params, { trustRemoteCode: true, ...options, ...signal, reject: false });
});
const outcomes: Outcome[] = [];
if (job.together) outcomes.push(...(await Promise.all(work.map((one) => one()))));
else for (const one of work) outcomes.push(await one());
const receipts = runtime.audit.list().length;
await sleep(job.lingerMs ?? 0);
await runtime.close();
const report: HostReport = {
  pid: process.pid,
  outcomes,
  params: job.calls.map(({ params }) => params),
  receipts,
  isRestored: writers().every((write, at) => write === before[at]),
};
process.stdout.write(JSON.stringify(report), () => process.exit(0));
