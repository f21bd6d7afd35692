/**
 * The bench of containers judges and prints its measurements. The bench itself checks that every way is really taken: it
 * stops if a call got its cell in another way than the row says.
 */
import { expect, test } from 'vitest';
import type { ContainerReport } from '../../bench/runner/container/run-container-bench.ts';
import { formatContainerReport } from '../../bench/runner/container/table.ts';
import { checkContainerTargets } from '../../bench/runner/container/targets.ts';
import type { Row } from '../../bench/runner/statistics.ts';

const row = (name: string, median: number): Row => ({ name, n: 3, median, p95: median, min: median });
const ROWS = [row('crun cold', 100), row('crun pool', 4), row('runc pool', 12), row('docker run', 400)];

test('the fastest runtime is compared with docker run', () => {
  expect(checkContainerTargets(ROWS)).toMatchObject([
    { met: true, found: '4.00 ms' },
    { met: true, found: '4.0 times' },
  ]);
  const slow = [row('runc cold', 100), row('runc pool', 10.5), row('docker run', 290)];
  expect(checkContainerTargets(slow).map(({ met }) => met)).toEqual([false, false]);
});

test('targets without a measurement are not judged', () => {
  expect(checkContainerTargets([]).map(({ met }) => met)).toEqual([undefined, undefined]);
  expect(checkContainerTargets([row('podman pool', 1)]).map(({ met }) => met)).toEqual([
    undefined,
    undefined,
  ]);
});

test('the report compares our rows with each command', () => {
  const machine = {
    cores: 2,
    cpu: 'c',
    memory: 'm',
    kernel: 'k',
    node: 'n',
    cell: 'crun',
    loadAtStart: 0,
    loadAtEnd: 1,
  };
  const report = {
    machine,
    rows: ROWS,
    peers: ['docker run'],
    targets: checkContainerTargets(ROWS),
    leftOut: ['podman: none'],
  };
  const text = formatContainerReport(report as unknown as ContainerReport);
  expect(text).toMatch(/^crun cold +3 +100\.00 +100\.00 +100\.00 +0\.25x$/m);
  expect(text).toContain('to docker run');
  expect(text).toContain('Skipped: podman: none');
  expect(text).not.toMatch(/NaN|undefined/);
});
