/**
 * What a tree of calls may use together.
 */
import { describe, expect, test } from 'vitest';
import { NO_USAGE } from '../../src/outcome.ts';
import { Budget } from '../../src/tree/budget.ts';
import { thrownBy } from '../thrown.ts';

const limitOf = (act: () => unknown): unknown => thrownBy(act).detail['limit'];

describe('a budget', () => {
  test('counts calls, and refuses the one that is too many', () => {
    const budget = new Budget({ calls: 2 });
    budget.take(1, 0);
    budget.take(2, 0);
    expect(limitOf(() => budget.take(1, 0))).toBe('calls');
    expect(budget.calls).toBe(2);
  });

  test('never allows more depth than there are slots for', () => {
    const budget = new Budget({ depth: 99 });
    expect(budget.limits.depth).toBe(3);
    expect(limitOf(() => budget.take(4, 0))).toBe('depth');
    expect(limitOf(() => new Budget({ depth: 0 }).take(1, 0))).toBe('depth');
  });

  test('refuses new calls when the CPU time or the output of earlier ones has used it up', () => {
    const cpu = new Budget({ cpu: 100 });
    cpu.spend({ ...NO_USAGE, cpu_ms: 100 });
    expect(limitOf(() => cpu.take(1, 0))).toBe('cpu');
    const output = new Budget({ output: 10 });
    output.spend({ ...NO_USAGE, output_bytes: 11 });
    expect(limitOf(() => output.take(1, 0))).toBe('output');
  });

  test('counts parameters and results, also those of calls that are refused', () => {
    const budget = new Budget({ bridge: 10 });
    budget.take(1, 6);
    expect(limitOf(() => budget.pass(5))).toBe('bridge');
    expect(limitOf(() => budget.take(1, 0))).toBe('bridge');
  });
});
