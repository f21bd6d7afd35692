/**
 * The gears that tests run in. A test file belongs to exactly one: `test/gears.test.ts` fails otherwise.
 *
 * - `quick` starts no cells, containers or browsers and installs nothing. `test/quick-guard.ts` fails a file that does.
 * - `attacks` runs the attack corpora.
 * - `full` is everything else.
 *
 * @module
 */
import { matchesGlob } from 'node:path';

export const GEAR_NAMES = ['quick', 'full', 'attacks'] as const;
export type Gear = (typeof GEAR_NAMES)[number];

/** Folders that test parts of `src/` in isolation. */
const QUICK = [
  'test/*.test.ts',
  'test/audit/**',
  'test/calls/**',
  'test/cell/protocol/**',
  'test/cell/verdict/**',
  'test/dispatch/**',
  'test/hook/**',
  'test/load/**',
  'test/manifest/**',
  'test/offload/**',
  'test/params/**',
  'test/policy/**',
  'test/record/**',
  'test/telemetry/**',
  'test/tools/**',
  'test/trust/**',
  'test/wasm/**',
];

/** Files in these folders that make complete calls, and therefore start cells. */
const WHOLE_CALLS = [
  'test/runtime.test.ts',
  'test/audit/refusal.test.ts',
  'test/calls/events.test.ts',
  'test/hook/end-to-end.test.ts',
  'test/hook/jailed-commands.test.ts',
  'test/params/exact-numbers.test.ts',
  'test/telemetry/telemetry.test.ts',
  'test/tools/offer.test.ts',
  'test/tools/offered.test.ts',
  'test/trust/admission.test.ts',
  'test/trust/pins.test.ts',
];

export function gearOf(file: string): Gear {
  if (matchesGlob(file, 'test/attacks/**')) return 'attacks';
  const isQuick = QUICK.some((glob) => matchesGlob(file, glob)) && !WHOLE_CALLS.includes(file);
  return isQuick ? 'quick' : 'full';
}

/** Every row here must match something; a missing folder is a mistake. */
export const LISTED: readonly string[] = [...QUICK, ...WHOLE_CALLS];

export function filesOf(gears: readonly Gear[], files: readonly string[]): string[] {
  return files.filter((file) => gears.includes(gearOf(file)));
}
