/**
 * Targets for Wasm cells.
 *
 * @module
 */
import { quantile } from '../statistics.ts';
import { atMost, factor, type Target } from '../targets.ts';
import type { BurstRow } from './bursts.ts';
import type { Crowd } from './crowd.ts';
import type { FuelCost } from './fuel.ts';
import { ASSEMBLYSCRIPT, C, QUICKJS, RUST, SOURCE, STARLINGMONKEY } from './languages.ts';
import { rowName } from './ours.ts';
import { PEER_NAMES } from './peers.ts';

const SMALL: readonly string[] = [C, RUST, ASSEMBLYSCRIPT];
const SMALL_MS = 0.5;
const QUICKJS_MS = 1;
const SOURCE_MS = 0.7;
const RESTED_MS = 0.7;
const STARLINGMONKEY_MS = 3;
const FUEL_SHARE = 0.2;
const SOURCE_PER_SECOND = 3000;
const COMPONENT_MIB = 18;
const SOURCE_MIB = 32;
const MIB = 1024 * 1024;

export interface WasmFigures {
  rows: readonly BurstRow[];
  crowds: readonly Crowd[];
  fuel: readonly FuelCost[];
}

/** Ratios are to the slowest of the small components. */
export function checkWasmTargets({ rows, crowds, fuel }: WasmFigures): Target[] {
  const find = (name: string): BurstRow | undefined => rows.find((row) => row.name === name);
  const median = (name: string): number => find(name)?.median ?? NaN;
  const inJail = (language: string): number => median(rowName(language, 'jail'));
  const measured = SMALL.map(inJail).filter((ms) => !Number.isNaN(ms));
  const slowest = quantile(measured, 1);
  const times = (peer: string): number => median(peer) / slowest;
  return [
    ...SMALL.map((name) => atMost(`${name} component at most ${SMALL_MS} ms`, inJail(name), SMALL_MS)),
    factor('at least 50 times as fast as Extism in a worker', times(PEER_NAMES.extismWorker), 50),
    factor('at least 100 times as fast as starting Node', times(PEER_NAMES.node), 100),
    factor('at least 100 times as fast as starting Deno', times(PEER_NAMES.deno), 100),
    atMost(`QuickJS component at most ${QUICKJS_MS} ms`, inJail(QUICKJS), QUICKJS_MS),
    atMost(`TypeScript source at most ${SOURCE_MS} ms`, inJail(SOURCE), SOURCE_MS),
    atMost(
      `C component after a pause at most ${RESTED_MS} ms`,
      find(rowName(C, 'jail'))?.rested ?? NaN,
      RESTED_MS,
    ),
    atMost(
      `StarlingMonkey component at most ${STARLINGMONKEY_MS} ms`,
      inJail(STARLINGMONKEY),
      STARLINGMONKEY_MS,
    ),
    ...crowdTargets(crowds),
    ...fuel.map(({ language, overhead }) => fuelTarget(language, overhead)),
  ];
}

function crowdTargets(crowds: readonly Crowd[]): Target[] {
  const find = (language: string): Crowd | undefined => crowds.find((crowd) => crowd.language === language);
  return [
    perSecond(
      `TypeScript source with 64 callers at least ${SOURCE_PER_SECOND} calls/s`,
      find(SOURCE)?.throughput.callsPerSecond,
      SOURCE_PER_SECOND,
    ),
    ofMemory('warm process of a C component', find(C)?.cellBytes, COMPONENT_MIB),
    ofMemory('warm process of TypeScript source', find(SOURCE)?.cellBytes, SOURCE_MIB),
  ];
}

function perSecond(aim: string, found: number | undefined, limit: number): Target {
  if (found === undefined) return { aim, met: undefined, found: 'not measured' };
  return { aim, met: found >= limit, found: `${found.toFixed(0)} calls/s` };
}

function ofMemory(what: string, bytes: number | undefined, limit: number): Target {
  const aim = `${what} at most ${limit} MiB`;
  if (bytes === undefined) return { aim, met: undefined, found: 'not measured' };
  return { aim, met: bytes <= limit * MIB, found: `${(bytes / MIB).toFixed(1)} MiB` };
}

function fuelTarget(language: string, overhead: number): Target {
  return {
    aim: `fuel costs at most ${FUEL_SHARE * 100} % in ${language}`,
    met: overhead <= FUEL_SHARE,
    found: `${(overhead * 100).toFixed(0)} %`,
  };
}
