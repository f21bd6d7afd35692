/**
 * The bench of the command line packs, installs and starts what it says. Durations are not tested.
 */
import { expect, test } from 'vitest';
import { missingPeers, otherCommands, ownCommands, RUN, VERSION } from '../../bench/cli/commands.ts';
import { runCliBench } from '../../bench/cli/run-cli-bench.ts';
import { formatCliReport } from '../../bench/cli/table.ts';

test('commands of the installed package are timed next to plain programs', async () => {
  const only = [VERSION, RUN, 'skillcell exec', 'skillcell hook', 'npx skillcell --version', 'python3 -c'];
  const report = await runCliBench({ rounds: 1, only });
  expect(report.rows.map(({ name, n }) => [name, n])).toEqual(only.map((name) => [name, 1]));
  for (const { median } of report.rows) expect(median).toBeGreaterThan(0);
  expect(report.targets.map(({ met }) => typeof met)).toEqual(['boolean', 'boolean']);
  expect(formatCliReport(report)).toContain(RUN);
});

test('peers that are not installed are named', () => {
  const present = otherCommands();
  const names = present.map(({ name }) => name);
  expect(missingPeers(present).filter((name) => names.includes(name))).toEqual([]);
  expect([...names, ...missingPeers(present)].toSorted()).toEqual(
    ['deno eval', 'node -e', 'python3 -c', 'srt python3'].toSorted(),
  );
  expect(ownCommands('/skillcell.js', '/hello').every(({ argv }) => argv.length > 1)).toBe(true);
});
