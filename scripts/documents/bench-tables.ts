/**
 * The benches of jails, components and the gateway as Markdown tables.
 *
 * @module
 */
import { coldName, poolName } from '../../bench/runner/container/targets.ts';
import type { ContainerReport } from '../../bench/runner/container/run-container-bench.ts';
import type { GatewayReport } from '../../bench/runner/gateway/run-gateway-bench.ts';
import { COLD, POOL, ZYGOTE } from '../../bench/runner/ours.ts';
import { PLAIN } from '../../bench/runner/plain.ts';
import type { BenchReport } from '../../bench/runner/run-bench.ts';
import type { Row } from '../../bench/runner/statistics.ts';
import type { Target } from '../../bench/runner/targets.ts';
import { PEER_NOTES } from '../../bench/runner/wasm/peers.ts';
import type { WasmReport } from '../../bench/runner/wasm/run-wasm-bench.ts';
import { duration, mebibytes } from '../python-wasm-tables.ts';
import { table } from '../skillware-table.ts';

const NOTES: Readonly<Record<string, string>> = {
  [PLAIN]: 'no isolation: a process runs a script and prints the result',
  [COLD]: 'a jail started for this call, as the command line does it',
  [POOL]: 'an unused jail started ahead of the call, as the library does it',
  [ZYGOTE]: 'forked from a jailed process that has never run skill code; used when the pool is empty',
};

/** The latency of a native Python call, for a small skill and for a larger one. */
export function formatJailCalls({ jobs: [first, second] }: BenchReport): string {
  const other = (name: string): Row | undefined => second?.rows.find((row) => row.name === name);
  return table([
    ['', 'small skill, median', 'p95', 'prompt_rewriter, median', 'p95', ''],
    ...(first?.rows ?? []).map(({ name, median, p95 }) => [
      name,
      duration(median),
      duration(p95),
      other(name) ? duration(other(name)?.median) : '',
      other(name) ? duration(other(name)?.p95) : '',
      NOTES[name] ?? '',
    ]),
  ]);
}

export function formatJailCrowd({ crowds, cellBytes }: BenchReport): string {
  const rows = crowds.map(({ callers, callsPerSecond, medianMs, p99Ms, failed }) => [
    `${callers} callers at once`,
    `${callsPerSecond.toFixed(0)} calls/s, ${failed} failed`,
    `median ${duration(medianMs)}, p99 ${duration(p99Ms)}`,
  ]);
  return table([
    ['', 'throughput', 'latency for each caller'],
    ...rows,
    ['memory of an idle cell (Pss)', mebibytes(cellBytes), ''],
  ]);
}

/** The same skill in every language, in the jail and behind the process wall. */
export function formatWasmLanguages({ rows, crowds }: WasmReport): string {
  const find = (name: string): WasmReport['rows'][number] | undefined =>
    rows.find((row) => row.name === name);
  return table([
    [
      'language',
      'call, median',
      'p95',
      'after a pause',
      'without a jail',
      'calls/s, 64 callers',
      'memory (Pss)',
    ],
    ...crowds.map(({ language, throughput, cellBytes }) => [
      language,
      duration(find(`${language}, jail`)?.median),
      duration(find(`${language}, jail`)?.p95),
      duration(find(`${language}, jail`)?.rested),
      duration(find(`${language}, process`)?.median),
      throughput.callsPerSecond.toFixed(0),
      mebibytes(cellBytes),
    ]),
  ]);
}

/** The cost of a larger binary, once and per call. */
export function formatWasmSizes({ sizes }: WasmReport): string {
  return table([
    ['component', 'install, once', 'first call of a process', 'call'],
    ...sizes.map(({ bytes, installMs, coldMs, warmMs }) => [
      mebibytes(bytes),
      duration(installMs),
      duration(coldMs),
      duration(warmMs),
    ]),
  ]);
}

export function formatGatewayCalls({ rows }: GatewayReport): string {
  return table([
    ['one request', 'median', 'p95'],
    ...rows.map(({ name, median, p95 }) => [name, duration(median), duration(p95)]),
  ]);
}

/** Every target of every bench, including missed ones. */
export function formatAims(reports: readonly { targets: Target[] }[]): string {
  return table([
    ['target', 'measured', ''],
    ...reports
      .flatMap(({ targets }) => targets)
      .map(({ aim, found, met }) => [
        aim,
        found,
        met === undefined ? 'not measured' : met ? 'met' : 'missed',
      ]),
  ]);
}

/** Other sandboxes on the same job in the same rounds, with a note on each. */
export function formatPeerCalls({ rows }: WasmReport): string {
  const notes: Readonly<Record<string, string>> = PEER_NOTES;
  const isOurs = ({ name }: Row): boolean => name.endsWith(', jail');
  return table([
    ['', 'call, median', 'p95', ''],
    ...rows
      .filter((row) => isOurs(row) || notes[row.name] !== undefined)
      .map((row) => [
        isOurs(row) ? `**Skillcell**: ${row.name}` : row.name,
        duration(row.median),
        duration(row.p95),
        notes[row.name] ?? '',
      ]),
  ]);
}

/** Every container backend, cold and from the pool, and the engines' own commands for the same job. */
export function formatContainerCalls({ rows, peers }: ContainerReport): string {
  const cold = coldName('');
  const makes = rows.filter(({ name }) => name.endsWith(cold)).map(({ name }) => name.slice(0, -cold.length));
  const median = (name: string): string => {
    const row = rows.find((one) => one.name === name);
    return row ? duration(row.median) : '';
  };
  return table([
    ['', 'cold', 'from the pool'],
    ...makes.map((make) => [make, median(coldName(make)), median(poolName(make))]),
    ...peers.map((peer) => [`\`${peer}\`, without Skillcell`, median(peer), '']),
    [PLAIN, median(PLAIN), ''],
  ]);
}
