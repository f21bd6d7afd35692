/**
 * `npm test`: sets up the machine, runs every check, and ends with the line `N passed, N failed`.
 *
 * @module
 */
import { GEAR_NAMES } from './gears.ts';
import { NEEDS, provide, type Need } from './needs.ts';
import { runPackageSteps } from './package-steps.ts';
import { passes, STATIC_STEPS } from './steps.ts';
import { runSuites } from './vitest.ts';

const missing = provide(NEEDS);
const checks = STATIC_STEPS.map(passes);
const excluded = missing.flatMap((need) => need.suites);
console.log('\n== tests and attacks');
// All gears in one run: while the last files of one gear end, others keep the cores busy.
const tests = runSuites({ gears: GEAR_NAMES, excluded });
checks.push(...runPackageSteps(missing.length === 0));

const passed = tests.passed + checks.filter(Boolean).length;
const failed = tests.failed + checks.filter((check) => !check).length + failuresOf(missing);
console.log('');
missing.forEach(explain);
for (const test of tests.secondTries) console.log(`Passed only on the retry: ${test}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function explain(need: Need): void {
  console.log(
    `Skipped ${need.suites.join(', ')}: ${need.name} does not work here ` +
      `(tried "${need.probe.join(' ')}"). On Debian, install "${need.debianPackage}".`,
  );
}

/** On a developer's machine a missing program is not a failure; in CI nothing may go unnoticed. */
function failuresOf(needs: readonly Need[]): number {
  return process.env['CI'] === 'true' ? needs.length : 0;
}
