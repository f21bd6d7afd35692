/**
 * Targets for Wasm cells.
 *
 * @module
 */
import { quantile } from '../statistics.ts';
import { atMost, factor, type Target } from '../targets.ts';
import type { BurstRow } from './bursts.ts';
import type { FuelCost } from './fuel.ts';
import { ASSEMBLYSCRIPT, C, QUICKJS, RUST, SOURCE, STARLINGMONKEY } from './languages.ts';
import { rowName } from './ours.ts';
import { PEER_NAMES } from './peers.ts';

const SMALL: readonly string[] = [C, RUST, ASSEMBLYSCRIPT];
const SMALL_MS = 0.5;
const QUICKJS_MS = 1;
const SOURCE_MS = 0.8;
const STARLINGMONKEY_MS = 3;
const FUEL_SHARE = 0.2;

/** Ratios are to the slowest of the small components. */
export function checkWasmTargets(rows: readonly BurstRow[], fuel: readonly FuelCost[]): Target[] {
  const median = (name: string): number => rows.find((row) => row.name === name)?.median ?? NaN;
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
      `StarlingMonkey component at most ${STARLINGMONKEY_MS} ms`,
      inJail(STARLINGMONKEY),
      STARLINGMONKEY_MS,
    ),
    ...fuel.map(({ language, overhead }) => fuelTarget(language, overhead)),
  ];
}

function fuelTarget(language: string, overhead: number): Target {
  return {
    aim: `fuel costs at most ${FUEL_SHARE * 100} % in ${language}`,
    met: overhead <= FUEL_SHARE,
    found: `${(overhead * 100).toFixed(0)} %`,
  };
}
