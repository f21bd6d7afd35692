/**
 * `npm run test:quick`, `npm run test:attacks`: the tests of one gear. Only `npm test` runs everything.
 *
 * @module
 */
import { GEAR_NAMES, type Gear } from './gears.ts';
import { NEEDS, provide } from './needs.ts';
import { runSuites } from './vitest.ts';

const gear = GEAR_NAMES.find((name) => name === process.argv[2]);
if (gear === undefined) throw new Error(`Pass a gear: ${GEAR_NAMES.join(', ')}.`);

const { passed, failed } = runSuites({ gears: [gear], excluded: excludedIn(gear) });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** The quick gear needs nothing that npm did not install. */
function excludedIn(which: Gear): readonly string[] {
  return which === 'quick' ? [] : provide(NEEDS).flatMap(({ suites }) => suites);
}
