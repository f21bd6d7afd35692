/**
 * Targets for Python in Wasm.
 *
 * @module
 */
import { POOL } from '../ours.ts';
import { PLAIN } from '../plain.ts';
import type { Row } from '../statistics.ts';
import { atMost, factor, withinTimes, type Target } from '../targets.ts';
import type { PythonCrowd } from './crowd.ts';
import type { KernelCost } from './kernels.ts';
import { IN_JAIL } from './ours.ts';
import { PYTHON_PEER_NAMES } from './peers.ts';
import type { StartCost } from './start.ts';

const MIB = 1024 ** 2;
const CALLS_PER_SECOND = 3000;
const PREPARE_SECONDS = 2.5;
const WARM_MIB = 65;

export interface PythonWasmFigures {
  /** Rows of the job with the peers. */
  rows: readonly Row[];
  start: Pick<StartCost, 'prepareMs' | 'firstCallMs'>;
  crowd: Pick<PythonCrowd, 'cpu' | 'throughput' | 'tightMs' | 'cellBytes'>;
}

export function checkPythonWasmTargets({ rows, start, crowd }: PythonWasmFigures): Target[] {
  const find = (name: string): Row | undefined => rows.find((row) => row.name === name);
  const ours = find(IN_JAIL)?.median ?? NaN;
  const times = (name: string): number => (find(name)?.median ?? NaN) / ours;
  return [
    atMost('a call at most 0.8 ms, between others', ours, 0.8),
    atMost('a call at most 0.4 ms, back to back', crowd.tightMs, 0.4),
    atMost('95 of 100 calls at most 6 ms', find(IN_JAIL)?.p95 ?? NaN, 6),
    atMost(
      'at most 0.7 ms of CPU per call, cell and caller together',
      crowd.cpu.cellMs + crowd.cpu.hostMs,
      0.7,
    ),
    throughputTarget(crowd),
    atMost('first call of a new program at most 100 ms', start.firstCallMs, 100),
    prepareTarget(start),
    memoryTarget(crowd),
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

function throughputTarget({ throughput }: Pick<PythonCrowd, 'throughput'>): Target {
  const { callers, callsPerSecond, failed } = throughput;
  return {
    aim: `${callers} callers at least ${CALLS_PER_SECOND} calls/s`,
    met: callsPerSecond >= CALLS_PER_SECOND && failed === 0,
    found: `${callsPerSecond.toFixed(0)} calls/s`,
  };
}

function prepareTarget({ prepareMs }: Pick<StartCost, 'prepareMs'>): Target {
  const seconds = prepareMs / 1000;
  return {
    aim: `engine prepared on a new machine in at most ${PREPARE_SECONDS} s`,
    met: seconds <= PREPARE_SECONDS,
    found: `${seconds.toFixed(2)} s`,
  };
}

function memoryTarget({ cellBytes }: Pick<PythonCrowd, 'cellBytes'>): Target {
  const aim = `a warm process at most ${WARM_MIB} MiB (Pss)`;
  if (cellBytes === undefined) return { aim, met: undefined, found: 'not measured' };
  return { aim, met: cellBytes <= WARM_MIB * MIB, found: `${(cellBytes / MIB).toFixed(1)} MiB` };
}

export function checkKernelTargets(kernels: readonly Pick<KernelCost, 'kernel' | 'ratio'>[]): Target[] {
  const ratio = kernels.find(({ kernel }) => kernel === 'sha256')?.ratio ?? NaN;
  return [withinTimes('sha256 at most 1.5 times native', ratio, 1.5)];
}
