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
  'test/tree/**',
  'test/trust/**',
  'test/wasm/**',
];

/** Files in these folders that make complete calls, and therefore start cells. */
const WHOLE_CALLS = [
  'test/tools/typings/compile.test.ts',
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

/** Files that take longest, roughly in this order: they start first. */
const LONGEST = [
  'test/attacks/corpus.test.ts',
  'test/attacks/{python-wasm,network,wasm,js-wasm}.test.ts',
  'test/attacks/container-*.test.ts',
  'test/attacks/**',
  'test/denials/**',
  'test/loop/inputs.test.ts',
  'test/cell/engines/python-wasm/contract.test.ts',
  'test/cell/engines/script/wasm.test.ts',
  'test/{runtime/install,mcp/server}.test.ts',
  'test/cell/engines/{js-wasm,component}/memory-between-calls.test.ts',
  'test/cell/walls/container/{podman,docker,crun}.test.ts',
  'test/{cli/plain-user,chaos/stages,trust/pins}.test.ts',
  'test/build/container/**',
  'test/cell/engines/python-wasm/**',
  'test/cell/*.test.ts',
  'test/cell/walls/container/**',
  'test/cell/{engines/component/plain,linux/watchdog}.test.ts',
  'test/bench/*-bench.test.ts',
  'test/{chaos,fixes}/**',
  'test/runtime/{leaks,overlay,pool,env}.test.ts',
  'test/{readme/programs,build/build-skill,agent-skills/run}.test.ts',
];

/** The lower, the earlier a file starts. */
export function rankOf(file: string): number {
  const row = LONGEST.findIndex((glob) => matchesGlob(file, glob));
  return row === -1 ? LONGEST.length : row;
}

/** Every row here must match something; a missing folder is a mistake. */
export const LISTED: readonly string[] = [...QUICK, ...WHOLE_CALLS, ...LONGEST];

export function filesOf(gears: readonly Gear[], files: readonly string[]): string[] {
  return files.filter((file) => gears.includes(gearOf(file)));
}
