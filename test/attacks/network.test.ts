/**
 * Every attack through the gateway works without a gateway, and has no effect in a cell, with the answer it must get.
 *
 * @module
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { group, page, type NetworkMode } from '../../attacks/network/attack.ts';
import { hasControl } from '../../attacks/runner/attack.ts';
import { NAME_ATTACKS } from '../../attacks/network/name-attacks.ts';
import { NETWORK_ATTACKS, networkAttacksOf, runNetworkAttacks } from '../../attacks/runner/run-network.ts';
import type { AttackRow } from '../../attacks/runner/run-attacks.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'skillcell-home-'));
  await chmod(home, 0o755);
});
afterAll(() => rm(home, { recursive: true, force: true }));

it('the network corpus has many attacks, each with a unique name', () => {
  const names = [...NETWORK_ATTACKS, ...NAME_ATTACKS].map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

describe('the runner of network attacks', () => {
  it('detects what reached a server, and an unexpected answer', async () => {
    const headers = { 'X-Injected': 'a header that the gateway has no reason to stop' };
    const attacks = group(
      { codes: ['capability_denied'], modes: ['subprocess'] },
      { fine: ['Sends a header.', page('/open/harmless', { headers })] },
    );
    const names = ['net_fine'];
    const rows = await runNetworkAttacks({ mode: 'subprocess', attacks, names, runtime: { home } });
    expect(rows).toMatchObject([{ name: 'net_fine', control: 'works', stopped: false, code: 'ok' }]);
    expect(rows[0]?.evidence).toContain('the secret is in the outcome');
    expect(rows[0]?.evidence).toContain('got an injected header');
    expect(rows[0]?.unexpected).toBe('answered ok instead of capability_denied');
  });
});

describe.each<[NetworkMode, boolean]>([
  ['subprocess', true],
  // The skill is the same, so its controls are too; attacks that exist only in Wasm have none.
  ['wasm', false],
])('the network corpus in mode %s', (mode, controls) => {
  let rows: Map<string, AttackRow>;
  beforeAll(async () => {
    const all = await runNetworkAttacks({ mode, controls, runtime: { home } });
    rows = new Map(all.map((row) => [row.name, row]));
  });

  it.each(networkAttacksOf({ mode }))('stops $name', ({ name, control }) => {
    const row = rows.get(name);
    expect(row, row?.evidence).toMatchObject({ stopped: true });
    expect(row?.unexpected, row?.evidence).toBeUndefined();
    const shown = controls && hasControl({ control }) ? 'works' : 'n/a';
    expect(row?.control, row?.controlEvidence).toBe(shown);
  });

  it.each(NAME_ATTACKS)('stops $name', ({ name }) => {
    expect(rows.get(name), rows.get(name)?.evidence).toMatchObject({ control: 'works', stopped: true });
  });
});
