/**
 * The runner itself must be able to fail: an attack that works must show in its row.
 *
 * @module
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAttacks, type AttackRow, type Execute } from '../../attacks/runner/run-attacks.ts';
import type { AttackParams } from '../../attacks/runner/setting.ts';
import { REACHED, raisingAtMarker, withMarker } from '../../attacks/runner/marker.ts';
import { formatTable } from '../../attacks/runner/table.ts';
import { NO_USAGE, type Outcome } from '../../src/outcome.ts';

function succeed(result: unknown): Outcome {
  const skill = { name: 'a/b', version: '1', digest: '' };
  const capabilities = { used: [], denied: [] };
  return {
    ok: true,
    result,
    call_id: '1',
    skill,
    usage: NO_USAGE,
    capabilities,
    logs: REACHED,
    warnings: [],
  };
}

const NO_ERROR = { code: 'skill_error', message: '', fix: '', detail: {} } as const;

function failing(message: string, logs: string): Outcome {
  const { result: _, ...rest } = succeed(null) as Outcome & { result: unknown };
  return { ...rest, ok: false, logs, error: { ...NO_ERROR, message } };
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
      logs: REACHED + (await readFile(params.secret_file, 'utf8')),
    }));
    expect(await rowOf('read_secret_file', leak)).toMatchObject({ stopped: false });
  });

  it('detects that the neighbour was killed', async () => {
    const kill = answersBenign(async (params) => {
      process.kill(params.victim_pid, 'SIGKILL');
      await new Promise((resolve) => setTimeout(resolve, 200));
      return succeed({ succeeded: false });
    });
    expect((await rowOf('kill_everything', kill)).evidence).toContain('the neighbour died by SIGKILL');
  });

  it('detects a process that survives the call', async () => {
    let timer: NodeJS.Timeout | undefined;
    const stay = answersBenign(async (_, workspace) => {
      const beat = (): void => void writeFile(join(workspace, 'heartbeat'), 'alive').catch(() => undefined);
      timer = setInterval(beat, 20);
      await new Promise((resolve) => setTimeout(resolve, 100));
      return succeed({ succeeded: false });
    });
    const row = await rowOf('daemon_outlives_call', stay);
    clearInterval(timer);
    expect(row.evidence).toContain('a process outlives');
  });

  it('detects that the next call is broken', async () => {
    const row = await rowOf('unshare_user', async () => succeed({}));
    expect(row).toMatchObject({ stopped: false });
    expect(row.evidence).toContain('the next call answered ok');
  });

  it('detects that an attack on Wasm cells worked', async () => {
    const execute: Execute = async (bundle) =>
      succeed(bundle.endsWith('echo') ? { sum: 42 } : { succeeded: true });
    const [row] = await runAttacks({ mode: 'wasm', execute, names: ['climb_out'] });
    expect(row).toMatchObject({ control: 'works', stopped: false, evidence: 'the attack reports success' });
  });

  it('reports a message with control characters, and a refusal that names no byte', async () => {
    const error = { code: 'manifest_invalid', message: 'no \u001b[2J', fix: '', detail: {} } as const;
    const { result: _, ...rest } = succeed(null) as Outcome & { result: unknown };
    const execute: Execute = async (bundle) =>
      bundle.endsWith('echo') ? succeed({ sum: 42 }) : { ...rest, ok: false, error };
    const [row] = await runAttacks({ mode: 'wasm', execute, names: ['huge_count'] });
    expect(row).toMatchObject({
      control: 'n/a',
      stopped: false,
      evidence: 'the message controls a terminal',
    });
    expect(row?.unexpected).toContain('does not name the byte');
  });

  it('reports an attack that was stopped with another answer than expected', async () => {
    const row = await rowOf(
      'unshare_user',
      answersBenign(async () => succeed({ succeeded: false })),
    );
    expect(row).toMatchObject({ stopped: true, unexpected: 'answered ok instead of skill_error' });
  });

  it('does not count an attack without evidence that it ran as stopped', async () => {
    const row = await rowOf(
      'unshare_user',
      answersBenign(async () => failing('the cell did not start', '')),
    );
    expect(row).toMatchObject({ ran: false, stopped: false });
    expect(formatTable([row])).toContain('DID NOT RUN');
    expect(formatTable([row])).toContain(
      'subprocess: 0 of 1 attacks stopped; 1 did not run; 1 have a working control',
    );
  });

  it('counts an attack that fails because of its own bug as not run', async () => {
    const answer = failing("The skill raised ImportError: no module 'x'", REACHED);
    const row = await rowOf(
      'unshare_user',
      answersBenign(async () => answer),
    );
    expect(row).toMatchObject({ ran: false, stopped: false });
    expect(row.evidence).toContain('its own bug (raised ImportError)');
  });

  it('accepts a denial or the expected refusal as evidence that an attack ran', async () => {
    const denied = { capability: 'filesystem', asked: 'read /etc/shadow', declared: '' } as const;
    const answer = { ...failing('no', ''), capabilities: { used: [], denied: [denied] } };
    expect(
      await rowOf(
        'unshare_user',
        answersBenign(async () => answer),
      ),
    ).toMatchObject({ stopped: true });
    const refusal = { ...failing('no', ''), error: { ...NO_ERROR, code: 'manifest_invalid' as const } };
    expect(
      await rowOf(
        'bundle_fifo',
        answersBenign(async () => refusal),
      ),
    ).toMatchObject({ stopped: true });
    expect(
      await rowOf(
        'unshare_user',
        answersBenign(async () => refusal),
      ),
    ).toMatchObject({ ran: false });
  });

  it('repeats the call with more time if the deadline came before the act', async () => {
    const timeouts: (number | undefined)[] = [];
    const late = {
      ...failing('late', ''),
      error: { ...NO_ERROR, code: 'resource_exceeded' as const, detail: { limit: 'timeout' } },
    };
    const execute: Execute = async (bundle, _, { timeout }) => {
      if (bundle.endsWith('benign')) return succeed({ sum: 42 });
      timeouts.push(timeout);
      return timeouts.length < 3 ? late : { ...late, logs: REACHED };
    };
    expect(await rowOf('spin', execute)).toMatchObject({ ran: true, stopped: true });
    expect(timeouts).toEqual([1000, 5000, 25_000]);
  });
});

describe('the marker', () => {
  it('is printed first in a skill that does not print it itself', () => {
    const python = withMarker('import os\n\n\ndef execute(params):\n    return 1\n', 'python');
    expect(python).toContain(`def execute(params):\n    print("${REACHED}", flush=True)\n    return 1`);
    expect(withMarker(python, 'python')).toBe(python);
    expect(withMarker('export async function execute(p) {\n  return 1;\n}', 'javascript')).toContain(REACHED);
    expect(() => withMarker('def run(): pass', 'python')).toThrow('no `execute`');
  });

  it('becomes an error in the twin of a skill that acts while it is loaded', () => {
    expect(raisingAtMarker(`print("${REACHED}", flush=True)\n`, 'python')).toBe(
      `raise RuntimeError("${REACHED}")\n`,
    );
    expect(() => raisingAtMarker('1', 'javascript')).toThrow('no line');
  });
});
