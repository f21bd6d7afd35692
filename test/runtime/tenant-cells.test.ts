/**
 * Warm processes, standby cells and zygotes belong to one tenant: the call of another never gets one, even with the same skill
 * and the same grant. How a call started is what the pool itself reports; the control is the second call of the same tenant.
 */
import { afterEach, describe, expect, test } from 'vitest';
import type { PoolOptions } from '../../src/cell/pool/pool.ts';
import type { Outcome } from '../../src/index.ts';
import type { TenantContext } from '../../src/policy/tenant-context.ts';
import type { Mode } from '../../src/vocabulary/modes.ts';
import { openTestRuntime, type TestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';

const PATIENT = { timeout: 60_000, interval: 50 };
const SOURCE = 'def execute(params):\n    return 1\n';

let opened: TestRuntime | undefined;

afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

/** The same in everything but the name. */
const tenant = (name: string): TenantContext => ({ name, secrets: [], env: {}, foreign: [] });
const ACME = tenant('acme');
const UMBRELLA = tenant('umbrella');

type StartOf = (whose: TenantContext | undefined) => Promise<string | undefined>;

async function open(mode: Mode, pool: PoolOptions): Promise<StartOf> {
  opened = openTestRuntime({ pool });
  const { runtime, folder } = opened;
  const skill = await runtime.load(writeSkill(folder, { source: SOURCE, manifest: { execution: [mode] } }));
  return async (whose) => {
    const options = { isolated: true, reject: false as const, ...(whose ? { tenant: whose } : {}) };
    const outcome: Outcome = await runtime.execute(skill, {}, options);
    expect(outcome, JSON.stringify(outcome)).toMatchObject({ ok: true });
    return outcome.execution?.start;
  };
}

describe.each<{ what: string; mode: Mode; pool: PoolOptions }>([
  { what: 'standby cells', mode: 'subprocess', pool: { size: 1 } },
  { what: 'a zygote', mode: 'subprocess', pool: { size: 1, ready: 'zygote' } },
  // Without processes that wait for any tenant's skill.
  { what: 'warm processes of Wasm', mode: 'wasm', pool: { size: 1, spares: 0 } },
])('$what of a tenant', ({ mode, pool }) => {
  test('serve its own next call, and neither another tenant nor the operator', async () => {
    const startOf = await open(mode, pool);
    expect(await startOf(ACME)).toBe('cold');
    // The control: something is ready, for acme.
    await expect.poll(() => startOf(ACME), PATIENT).not.toBe('cold');
    expect(await startOf(UMBRELLA)).toBe('cold');
    expect(await startOf(undefined)).toBe('cold');
    // The others have their own now, and acme still has its own.
    await expect.poll(() => startOf(UMBRELLA), PATIENT).not.toBe('cold');
    await expect.poll(() => startOf(undefined), PATIENT).not.toBe('cold');
    await expect.poll(() => startOf(ACME), PATIENT).not.toBe('cold');
  });
});

test('a process that waited for a skill serves the tenant that got it, and no other', async () => {
  const startOf = await open('wasm', { size: 1 });
  const owners = [ACME, UMBRELLA, undefined, tenant('third'), tenant('fourth')];
  for (const owner of owners) {
    expect(await startOf(owner)).not.toBe('warm');
    expect(await startOf(owner)).toBe('warm');
  }
});
