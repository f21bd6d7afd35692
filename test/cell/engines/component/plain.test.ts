import { expect, test } from 'vitest';
import { parsePolicy } from '../../../../src/index.ts';
import { openTestRuntime } from '../../test-runtime.ts';
import { WasmBench } from './bench.ts';
import { wasmContract } from './contract.ts';
import { ECHO } from './programs.ts';

const NO_JAIL = { jail: { bwrap: '/nonexistent' } };

wasmContract('a Wasm cell in a plain process', 'process', NO_JAIL);

test('a policy with the minimum wasm refuses a Wasm cell without a jail', async () => {
  const policy = parsePolicy('minimum: { project: wasm }', { file: 'policy.yaml' });
  const { runtime, folder, close } = openTestRuntime({ ...NO_JAIL, policy });
  try {
    const bench = new WasmBench(runtime, folder);
    const outcome = await bench.run(bench.skill(ECHO));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_unavailable' } });
    if (!outcome.ok) expect(outcome.error.fix).toContain('Install bubblewrap');
  } finally {
    await close();
  }
});
