/**
 * The runner itself must be able to fail: an attack that works has to show in its row.
 *
 * @module
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAttacks, type AttackRow, type Execute } from '../../attacks/runner/run-attacks.ts';
import type { AttackParams } from '../../attacks/runner/setting.ts';
import { formatTable } from '../../attacks/runner/table.ts';
import { NO_USAGE, type Outcome } from '../../src/outcome.ts';

function succeed(result: unknown): Outcome {
  const skill = { name: 'a/b', version: '1', digest: '' };
  const capabilities = { used: [], denied: [] };
  return { ok: true, result, call_id: '1', skill, usage: NO_USAGE, capabilities, logs: '', warnings: [] };
}

const answersBenign =
  (attack: (params: AttackParams, workspace: string) => Promise<Outcome>): Execute =>
  async (bundle, params, { workspace }) =>
    bundle.endsWith('benign') ? succeed({ sum: 42 }) : attack(params as AttackParams, workspace ?? '');

async function rowOf(name: string, execute: Execute): Promise<AttackRow> {
  const [row] = await runAttacks({ mode: 'subprocess', execute, names: [name] });
  return row!;
}

describe('runAttacks', () => {
  it('counts an attack that reports success as not stopped', async () => {
    const row = await rowOf(
      'unshare_user',
      answersBenign(async () => succeed({ succeeded: true })),
    );
    expect(row).toMatchObject({ control: 'works', stopped: false, evidence: 'the attack reports success' });
    expect(formatTable([row])).toContain('NOT STOPPED');
  });

  it('counts a secret anywhere in the outcome as not stopped', async () => {
    const leak = answersBenign(async (params) => ({
      ...succeed({ succeeded: false }),
      logs: await readFile(params.secret_file, 'utf8'),
    }));
    expect(await rowOf('read_secret_file', leak)).toMatchObject({ stopped: false });
  });

  it('sees that the neighbour was killed', async () => {
    const kill = answersBenign(async (params) => {
      process.kill(params.victim_pid, 'SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, 200));
      return succeed({ succeeded: false });
    });
    expect((await rowOf('kill_everything', kill)).evidence).toContain('the neighbour died by SIGKILL');
  });

  it('sees that a process lives on after the call', async () => {
    let timer: NodeJS.Timeout | undefined;
    const stay = answersBenign(async (_, workspace) => {
      const beat = (): void => void writeFile(join(workspace, 'heartbeat'), 'alive').catch(() => undefined);
      timer = setInterval(beat, 20);
      await new Promise((resolve) => setTimeout(resolve, 100));
      return succeed({ succeeded: false });
    });
    const row = await rowOf('daemon_outlives_call', stay);
    clearInterval(timer);
    expect(row.evidence).toContain('a process lives on');
  });

  it('sees that the next call is broken', async () => {
    const row = await rowOf('unshare_user', async () => succeed({}));
    expect(row).toMatchObject({ stopped: false });
    expect(row.evidence).toContain('the next call answered ok');
  });

  it('sees that an attack on Wasm cells worked', async () => {
    const execute: Execute = async (bundle) =>
      succeed(bundle.endsWith('echo') ? { sum: 42 } : { succeeded: true });
    const [row] = await runAttacks({ mode: 'wasm', execute, names: ['climb_out'] });
    expect(row).toMatchObject({ control: 'works', stopped: false, evidence: 'the attack reports success' });
  });

  it('tells a message that steers a terminal, and a refusal that names no byte', async () => {
    const error = { code: 'manifest_invalid', message: 'no \u001b[2J', fix: '', detail: {} } as const;
    const { result: _, ...rest } = succeed(null) as Outcome & { result: unknown };
    const execute: Execute = async (bundle) =>
      bundle.endsWith('echo') ? succeed({ sum: 42 }) : { ...rest, ok: false, error };
    const [row] = await runAttacks({ mode: 'wasm', execute, names: ['huge_count'] });
    expect(row).toMatchObject({ control: 'n/a', stopped: false, evidence: 'the message steers a terminal' });
    expect(row?.unexpected).toContain('does not name the byte');
  });

  it('tells an attack that was stopped with another answer than it must get', async () => {
    const row = await rowOf(
      'unshare_user',
      answersBenign(async () => succeed({ succeeded: false })),
    );
    expect(row).toMatchObject({ stopped: true, unexpected: 'answered ok instead of skill_error' });
  });
});
