/**
 * The environment of a skill in every engine: the declared variables, a few fixed ones, and nothing else.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Mode } from '../../src/index.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { wat } from '../wasm/binary/support.ts';
import { writeSkill } from '../write-skill.ts';

const VALUE = 'invented-key-0123456789';
const env = { API_KEY: VALUE, PLAIN: 'plain', NOT_DECLARED: 'must never be seen' };
const { runtime, folder, close } = openTestRuntime({ env, audit: false });
afterAll(close);

const manifest = {
  env_vars: { API_KEY: { secret: true, hosts: ['api.example.com'] }, PLAIN: {}, NOT_SET: {} },
  capabilities: {},
};

/** Prints its environment as JSON, with a bar after each variable. */
const LISTING = `(module
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $sizes (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_get" (func $environ (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start") (local $at i32) (local $end i32)
    (drop (call $sizes (i32.const 0) (i32.const 4)))
    (drop (call $environ (i32.const 16) (i32.const 1025)))
    (local.set $at (i32.const 1025))
    (local.set $end (i32.add (local.get $at) (i32.load (i32.const 4))))
    (block $done (loop $next
      (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
      (if (i32.eqz (i32.load8_u (local.get $at))) (then (i32.store8 (local.get $at) (i32.const 124))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $next)))
    (i32.store8 (i32.const 1024) (i32.const 34))
    (i32.store8 (local.get $end) (i32.const 34))
    (i32.store (i32.const 8) (i32.const 1024))
    (i32.store (i32.const 12) (i32.sub (local.get $end) (i32.const 1023)))
    (drop (call $write (i32.const 1) (i32.const 8) (i32.const 1) (i32.const 0)))))`;

function componentSkill(): string {
  const entry = { execution: ['wasm'], entry: 'skill.wasm' };
  const dir = writeSkill(folder, { source: '', manifest: { ...manifest, ...entry } });
  writeFileSync(join(dir, 'skill.wasm'), wat(LISTING));
  return dir;
}

const pythonSkill = (): string =>
  writeSkill(folder, {
    source:
      'import os\ndef execute(params):\n    return "".join("%s=%s|" % item for item in os.environ.items())\n',
    manifest,
  });

test.each<[engine: string, mode: Mode, skill: () => string]>([
  ['python', 'subprocess', pythonSkill],
  ['python-wasm', 'wasm', pythonSkill],
  ['component', 'wasm', componentSkill],
])('a call in %s gets exactly the declared environment', async (engine, mode, skill) => {
  const loaded = await runtime.load(skill());
  const { result, execution } = await runtime.execute(loaded, {}, { execution: mode });
  expect(execution?.engine).toBe(engine);
  const pairs = String(result)
    .split('|')
    .slice(0, -1)
    .map((pair) => pair.split('='));
  const { API_KEY: placeholder, ...seen } = Object.fromEntries(pairs) as Record<string, string>;
  const plan = await runtime.plan(loaded, { execution: mode });
  expect(seen).toEqual({ PLAIN: 'plain', ...plan.fixedEnv });
  expect(placeholder).toMatch(/^[A-Za-z0-9]{32}$/);
  expect(placeholder).not.toContain(VALUE);
});
