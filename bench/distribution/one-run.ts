/**
 * One measured act in a process of its own, as a command has it: modules are loaded, and nothing is warm. Prints its cost.
 *
 * @module
 */
import { parseArgs } from 'node:util';
import {
  acceptProposal,
  createRuntime,
  installFrozen,
  openSources,
  propose,
  type PinPlace,
  type Runtime,
} from '../../src/inside.ts';
import { childCpuMs } from '../runner/child-cpu.ts';

export interface Cost {
  /** From the first request to the written lockfile. */
  wallMs: number;
  /** CPU time of this process, in all of its threads. */
  ownMs: number;
  /** CPU time of the processes that it started: the cell that inspects the skill. */
  cellMs: number;
}

const { values } = parseArgs({
  options: { home: { type: 'string' }, project: { type: 'string' }, add: { type: 'string' } },
});
const { home = '', project = '', add } = values;
await using runtime = createRuntime({ home, cwd: project, pool: { size: 0 }, audit: false });
const place: PinPlace = { home: runtime.home, cwd: project };
const cost = await measure(() => (add === undefined ? install(runtime) : addOne(runtime, add)));
console.log(JSON.stringify(cost));

async function addOne(runtime: Runtime, reference: string): Promise<void> {
  const source = openSources({ cwd: project })(reference);
  using proposal = await propose(await source.fetch(reference), { runtime, place });
  await acceptProposal(proposal, place, 'bench');
}

async function install(runtime: Runtime): Promise<void> {
  await installFrozen({ runtime, place, open: openSources({ cwd: project }) });
}

async function measure(act: () => Promise<void>): Promise<Cost> {
  const [wall, own, children] = [performance.now(), process.cpuUsage(), childCpuMs()];
  await act();
  const { user, system } = process.cpuUsage(own);
  return {
    wallMs: performance.now() - wall,
    ownMs: (user + system) / 1000,
    cellMs: childCpuMs() - children,
  };
}
