/**
 * A script engine is one loop around a switch with hundreds of small branches. Each pass takes one of them and pays for it.
 */
import { expect, test } from 'vitest';
import { metered, runWith } from './support.ts';

const PLENTY = 10_000_000_000n;
const PASSES = 1000;

/** A loop of `PASSES` passes, each through one of the given number of branches. */
function interpreter(arms: number): string {
  const labels = Array.from({ length: arms }, (_, arm) => `$arm${arm}`);
  const blocks = labels.toReversed().map((label) => `(block ${label}`);
  const add = (arm: number): string => `(local.set $sum (i32.add (local.get $sum) (i32.const ${arm})))`;
  const bodies = labels.map((_, arm) => `) ${add(arm).repeat(6)} (br $next)`);
  return `(module (func (export "run") (param $passes i32) (result i32) (local $sum i32)
    (loop $loop
      (block $next
        ${blocks.join(' ')}
        (br_table ${labels.join(' ')} (i32.rem_u (local.get $passes) (i32.const ${arms})))
        ${bodies.join('\n')})
      (local.set $passes (i32.sub (local.get $passes) (i32.const 1)))
      (br_if $loop (local.get $passes)))
    (local.get $sum)))`;
}

function fuelOf(arms: number): number {
  const job = metered(interpreter(arms));
  expect(runWith(job, PLENTY, PASSES)).toBe('returned');
  return Number(PLENTY - BigInt(job.fuel.value));
}

test('branches of a switch that are not taken cost no fuel', () => {
  const [few, many] = [fuelOf(50), fuelOf(90)];
  expect(few).toBeGreaterThan(PASSES);
  // Almost twice the branches would be almost twice the fuel if every pass paid for all of them.
  expect(many / few).toBeLessThan(1.2);
  expect(many / PASSES).toBeLessThan(100);
});
