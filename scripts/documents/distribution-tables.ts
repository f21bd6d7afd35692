/**
 * Distribution as Markdown tables: what its bench measured, and the lies that its tests tell.
 *
 * @module
 */
import type { DistributionReport } from '../../bench/distribution/run-distribution-bench.ts';
import { LIES } from '../../test/distribution/hostile/lies.ts';
import { duration } from '../python-wasm-tables.ts';
import { table } from '../skillware-table.ts';

export function formatDistributionCosts({ rows, targets }: DistributionReport): string {
  return table([
    ['', 'own CPU time, fastest', 'median', 'wall time, fastest', 'CPU time of the cell', 'aim'],
    ...rows.map(({ name, own, wall, cell }) => [
      name,
      duration(own.min),
      duration(own.median),
      duration(wall.min),
      cell.min === 0 ? '' : duration(cell.min),
      aimOf(name, targets),
    ]),
  ]);
}

function aimOf(name: string, targets: DistributionReport['targets']): string {
  const target = targets.find(({ aim }) => aim.startsWith(`${name}: `));
  return target
    ? `${/\d+ ms/.exec(target.aim.slice(name.length))?.[0]}: ${target.met ? 'met' : 'missed'}`
    : '';
}

export function formatLies(): string {
  return table([['lie', 'refused with'], ...LIES.map(({ name, code }) => [name, `\`${code}\``])]);
}
