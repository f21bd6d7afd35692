/**
 * The denial counter for a call with more denials than its list can hold.
 */
import { expect, test } from 'vitest';
import type { Outcome } from '../../src/index.ts';
import { openStage } from './stage.ts';

const ACTS = 300;
/** Refused by name, so no packet is ever sent. */
const SOURCE = `
  import urllib.request
  def execute(params):
      for number in range(${ACTS}):
          try:
              urllib.request.urlopen(f"http://denied.test/{number}")
          except OSError:
              pass
      return "done"
`;
const MANIFEST = {
  execution: ['subprocess'],
  capabilities: { network: [{ host: 'granted.test', port: 80, scheme: 'http' }] },
};

test('the denial counter includes denials that the list of the call omits', async () => {
  await using stage = await openStage({
    skills: { nosy: { source: SOURCE, manifest: MANIFEST } },
  });
  const outcome = (await (await stage.execute('test/nosy')).json()) as Outcome;
  const { denied, cut } = outcome.capabilities;
  expect(cut?.denied, 'a list that is cut').toBeGreaterThan(0);
  const metrics = await (await stage.ask('/metrics', { as: 'metrics' })).text();
  const counts = [...metrics.matchAll(/^skillcell_denials_total\{skill="test\/nosy",.*\} (\d+)$/gm)];
  const total = counts.reduce((sum, [, count]) => sum + Number(count), 0);
  expect(total).toBe(denied.length + (cut?.denied ?? 0));
  expect(total).toBe(ACTS);
});
