/**
 * What every suite of attacks on the host itself asks for: stopped, with the answer that is due, and a control that works.
 *
 * @module
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAttacks, type AttackRow } from '../../attacks/runner/run-attacks.ts';
import type { TrustAttack } from '../../attacks/trust/attack.ts';
import { createRuntime } from '../../src/runtime.ts';

const RUN_MS = 600_000;

export function stopsAll(title: string, mode: 'trust' | 'edges', attacks: readonly TrustAttack[]): void {
  let home: string;
  let rows: Map<string, AttackRow>;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'skillcell-home-'));
    await chmod(home, 0o755);
    await using runtime = createRuntime({ home, audit: false });
    const found = await runAttacks({
      mode,
      execute: (bundle, params, call) => runtime.execute(bundle, params, { ...call, reject: false }),
    });
    rows = new Map(found.map((row) => [row.name, row]));
  }, RUN_MS);
  afterAll(() => rm(home, { recursive: true, force: true }));

  describe(title, () => {
    it.each(attacks)('stops $name', ({ name, control }) => {
      const row = rows.get(name);
      expect(row, `${row?.evidence} ${row?.controlEvidence}`).toMatchObject({
        control: typeof control === 'function' ? 'works' : 'n/a',
        stopped: true,
      });
      expect(row?.unexpected, row?.evidence).toBeUndefined();
    });

    it('have names of their own', () => {
      expect(rows.size).toBe(attacks.length);
    });
  });
}
