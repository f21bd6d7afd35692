/**
 * Targets for Python in Wasm.
 *
 * @module
 */
import type { CpuCost } from '../cpu.ts';
import { POOL } from '../ours.ts';
import { PLAIN } from '../plain.ts';
import type { Row } from '../statistics.ts';
import { atMost, factor, withinTimes, type Target } from '../targets.ts';
import type { KernelCost } from './kernels.ts';
import { IN_JAIL } from './ours.ts';
import { PYTHON_PEER_NAMES } from './peers.ts';

/** Rows of the job with the peers. */
export function checkPythonWasmTargets(rows: readonly Row[], cpu: CpuCost): Target[] {
  const find = (name: string): Row | undefined => rows.find((row) => row.name === name);
  const ours = find(IN_JAIL)?.median ?? NaN;
  const times = (name: string): number => (find(name)?.median ?? NaN) / ours;
  return [
    atMost('a call at most 1.5 ms', ours, 1.5),
    atMost('95 of 100 calls at most 6 ms', find(IN_JAIL)?.p95 ?? NaN, 6),
    atMost('at most 3 ms of CPU per call, cell and caller together', cpu.cellMs + cpu.hostMs, 3),
    factor('at least 1000 times as fast as cold Pyodide', times(PYTHON_PEER_NAMES.pyodideCold), 1000),
    factor(
      'at least 80 times as fast as Pyodide from a snapshot',
      times(PYTHON_PEER_NAMES.pyodideSnapshot),
      80,
    ),
    factor('at least 15 times as fast as starting python3', times(PLAIN), 15),
    withinTimes('within 3 times the warm pool of native Python', 1 / times(POOL), 3),
  ];
}

export function checkKernelTargets(kernels: readonly Pick<KernelCost, 'kernel' | 'ratio'>[]): Target[] {
  const ratio = kernels.find(({ kernel }) => kernel === 'sha256')?.ratio ?? NaN;
  return [withinTimes('sha256 at most 1.5 times native', ratio, 1.5)];
}
