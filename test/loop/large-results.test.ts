/**
 * A large result from cell to client: only worker threads parse it, and every reader gets the same value.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { digestJson } from '../../src/audit/canonical-json.ts';
import { outcomeJson, resultText } from '../../src/inside.ts';
import type { Runtime } from '../../src/index.ts';
import { MAX_JSON_HERE } from '../../src/json-text.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { writeSkill, type SkillText } from '../write-skill.ts';

const { runtime, folder, close } = openTestRuntime({ secrets: () => 'sk-invented-0123456789abcdef' });
afterAll(close);

/** Has objects, numbers that lose digits, and strings that need escapes. */
const VALUE = Array.from({ length: 6000 }, (_, n) => ({ [`k${n}`]: [n, 1.5, `"\\ü${n}`], x: null }));
const PYTHON = `
  def execute(params):
      return [{"k%d" % n: [n, 1.5, '"\\\\ü%d' % n], "x": None} for n in range(6000)]
`;
const SCRIPT = `
  export function execute() {
    return Array.from({ length: 6000 }, (_, n) => ({ ['k' + n]: [n, 1.5, '"\\\\ü' + n], x: null }));
  }
`;
const skillOf: Record<string, SkillText> = {
  subprocess: { source: PYTHON, manifest: { execution: ['subprocess'] } },
  wasm: { files: { 'skill.js': SCRIPT }, manifest: { execution: ['wasm'] } },
};

async function settled(count: (runtime: Runtime) => Promise<unknown>): Promise<number> {
  const before = runtime.offloaded.done['settleResult'] ?? 0;
  await count(runtime);
  return (runtime.offloaded.done['settleResult'] ?? 0) - before;
}

describe.each(Object.keys(skillOf))('a large result of a skill in %s', (mode) => {
  const dir = writeSkill(folder, skillOf[mode] ?? {});

  test('is parsed by a worker thread and arrives as it was returned', async () => {
    const done = await settled(async () => {
      const outcome = await runtime.execute(dir, {});
      expect(resultText(outcome)?.bytes.length).toBeGreaterThan(MAX_JSON_HERE);
      expect(outcome.result).toEqual(VALUE);
      expect(outcome.result).toBe(outcome.result);
    });
    expect(done).toBe(1);
  });

  test('has the digest of its value in the receipt, and its text in the response', async () => {
    const outcome = await runtime.execute(dir, {});
    const { receipt } = runtime.audit.show(outcome.call_id) ?? {};
    expect(receipt?.result_digest).toBe(digestJson(VALUE));
    const { result, ...rest } = JSON.parse(outcomeJson(outcome).toString()) as Record<string, unknown>;
    expect(result).toEqual(VALUE);
    expect(rest).toMatchObject({ ok: true, call_id: outcome.call_id, warnings: outcome.warnings });
  });

  test('is validated against the outputs and refused if it does not match', async () => {
    const { manifest, ...texts } = skillOf[mode] ?? {};
    const strict = writeSkill(folder, {
      ...texts,
      manifest: { ...manifest, outputs: { total: { type: 'integer' } } },
    });
    const outcome = await runtime.execute(strict, {}, { reject: false });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expect(outcome.ok ? '' : outcome.error.message).toContain('must be object');
  });
});

describe.each([0, 40_000])('a result with %d additional letters', (size) => {
  const deep = {
    subprocess: `
      def execute(params):
          value = "x" * params["size"]
          for _ in range(params["levels"]):
              value = [value]
          return value
    `,
    wasm: `export function execute({ size, levels }) {
      let value = 'x'.repeat(size);
      for (let n = 0; n < levels; n++) value = [value];
      return value;
    }`,
  };
  const dirs = [
    writeSkill(folder, { source: deep.subprocess, manifest: { execution: ['subprocess'] } }),
    writeSkill(folder, { files: { 'skill.js': deep.wasm }, manifest: { execution: ['wasm'] } }),
  ];

  test.each(dirs)(
    'may be nested 128 levels deep and no deeper, and the error never blames the skill for its channel',
    async (dir) => {
      const most = await runtime.execute(dir, { size, levels: 128 });
      expect(JSON.stringify(most.result)).toHaveLength(2 * 128 + 2 + size);
      const deeper = await runtime.execute(dir, { size, levels: 129 }, { reject: false });
      expect(deeper).toMatchObject({ ok: false, error: { code: 'skill_error' } });
      expect(deeper.ok ? '' : deeper.error.message).toContain(
        'a value that is not valid JSON: the result is nested deeper than 128 levels',
      );
    },
  );

  test('that is missing is null', async () => {
    const dir = writeSkill(folder, {
      source: `
        import os
        def execute(params):
            body = b'{"t":"result","pad":"' + b"x" * params["size"] + b'"}'
            os.write(3, len(body).to_bytes(4, "little") + body)
      `,
      manifest: { execution: ['subprocess'] },
    });
    const outcome = await runtime.execute(dir, { size });
    expect(outcome.result).toBe(null);
    expect(JSON.parse(outcomeJson(outcome).toString())).toMatchObject({ result: null });
  });
});

test('a small result stays on the thread of the caller', async () => {
  const dir = writeSkill(folder, { source: 'def execute(params):\n    return params' });
  expect(await settled(() => runtime.execute(dir, { a: [1, 'x'] }))).toBe(0);
});

test('secrets are removed from a large result and from its digest', async () => {
  const dir = writeSkill(folder, {
    files: { 'skill.js': 'export function execute({ echo }) { return Array(5000).fill(echo); }' },
    manifest: {
      execution: ['wasm'],
      env_vars: { API_KEY: { secret: true, hosts: ['api.test'] } },
      capabilities: { network: [{ host: 'api.test' }] },
    },
  });
  const outcome = await runtime.execute(dir, { echo: 'sk-invented-0123456789abcdef' }, { reject: false });
  if (!outcome.ok) throw new Error(outcome.error.message);
  expect(resultText(outcome)?.toString()).not.toContain('sk-invented');
  expect(outcome.result).toEqual(Array.from({ length: 5000 }, () => '[secret API_KEY]'));
  const { receipt } = runtime.audit.show(outcome.call_id) ?? {};
  expect(receipt?.result_digest).toBe(digestJson(outcome.result));
});

/** Writes a frame of `{size}` bytes around the harness. */
const FRAME = `
  import os, struct
  def execute(params):
      body = params["start"].encode() + params["fill"].encode() * (params["size"] // len(params["fill"])) + params["end"].encode()
      data = memoryview(struct.pack("<I", len(body)) + body)
      for _ in range(params["times"]):
          left = data
          while left:
              left = left[os.write(3, left):]
      return "late"
`;

describe('a native cell that sends', () => {
  const dir = writeSkill(folder, {
    source: FRAME,
    manifest: { execution: ['subprocess'], limits: { output: '16MB', timeout: '60s' } },
  });
  const MIB = 1024 * 1024;
  const call = (params: Record<string, unknown>): ReturnType<Runtime['execute']> =>
    runtime.execute(dir, { fill: 'x', end: '"}', times: 1, ...params }, { reject: false }) as never;

  test.each(['denied', 'used', 'ready', 'loaded', 'log', 'ask'])(
    'a frame "%s" of 8 MiB ends the call before the host buffers it',
    async (t) => {
      const outcome = await call({ start: `{"t":"${t}","asked":"`, size: 8 * MIB });
      expect(outcome).toMatchObject({
        ok: false,
        error: { code: 'resource_exceeded', detail: { limit: 'output' } },
      });
    },
  );

  test('many frames ends the call if their total is too large', async () => {
    const start = '{"t":"denied","capability":"env","declared":"","asked":"';
    const outcome = await call({ start, size: 15_000, times: 250 });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    expect(JSON.stringify(outcome)).toContain('bytes of frames');
  });

  test.each([
    ['deep lists', '[', ''],
    ['keys without end', '{"a":', ''],
    ['a key twice', '{"a":1,"a":2,"b":"', '"}}'],
  ])('a large reply with %s violates the protocol, found in a worker thread', async (_, fill, end) => {
    const done = await settled(async () => {
      const start = fill.includes('"b"') ? `{"t":"result","value":${fill}` : '{"t":"result","value":';
      const filler = fill.includes('"b"') ? 'x' : fill;
      const outcome = await call({ start, fill: filler, size: 2 * MIB, end });
      expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
    });
    expect(done).toBe(1);
  });

  test('a large error has it truncated in a worker thread', async () => {
    const done = await settled(async () => {
      const outcome = await call({ start: '{"t":"error","type":"E","message":"', size: 4 * MIB });
      expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
      expect(JSON.stringify(outcome).length).toBeLessThan(40_000);
    });
    expect(done).toBe(1);
  });

  test('sixteen mebibytes of keys does not block the event loop', async () => {
    let turns = 0;
    const over = new AbortController();
    const turning = (async () => {
      while (!over.signal.aborted) {
        await turn();
        turns++;
      }
    })();
    const outcome = await call({
      start: '{"t":"result","value":[',
      fill: '{"a":1e1},',
      size: 15 * MIB,
      end: '0]}',
    });
    over.abort();
    await turning;
    expect(outcome.ok).toBe(true);
    expect(turns).toBeGreaterThan(100);
  });
});
