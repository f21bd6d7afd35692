/**
 * `npm test`: sets the machine up, runs every check, and closes with the line `N passed, N failed`.
 *
 * @module
 */
import { NEEDS, provide, type Need } from './needs.ts';
import { runPackageSteps } from './package-steps.ts';
import { passes, STATIC_STEPS } from './steps.ts';
import { runSuites } from './vitest.ts';

const missing = provide(NEEDS);
const checks = STATIC_STEPS.map(passes);
console.log('\n== tests');
const tests = runSuites(missing.flatMap((need) => need.suites));
checks.push(...runPackageSteps());

const passed = tests.passed + checks.filter(Boolean).length;
const failed = tests.failed + checks.filter((check) => !check).length + failuresOf(missing);
console.log('');
missing.forEach(explain);
for (const test of tests.secondTries) console.log(`Passed in its second try only: ${test}`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function explain(need: Need): void {
  console.log(
    `Left out ${need.suites.join(', ')}: ${need.name} does not work here ` +
      `(tried "${need.probe.join(' ')}"). On Debian, install "${need.debianPackage}".`,
  );
}

/** On a developer's machine a missing program is no failure; in CI nothing may go unnoticed. */
function failuresOf(needs: readonly Need[]): number {
  return process.env['CI'] === 'true' ? needs.length : 0;
}
