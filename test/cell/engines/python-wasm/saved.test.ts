/**
 * The memory after a skill's module body is saved for later processes of the same skill and grant, and for no others.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime, parsePolicy, type Runtime, type RuntimeOptions } from '../../../../src/index.ts';
import { openFolder, removeFolder, writeSkill, type SkillText } from '../../../write-skill.ts';
import { callCell, openCell, readInstalled, savedImages } from './installed.ts';

const folder = openFolder();
const home = join(folder, 'home');
const env = { SAVED_TEST_KEY: 'an invented value' };
afterAll(() => removeFolder(folder));

function open(options: RuntimeOptions = {}): Runtime {
  return createRuntime({ home, cwd: folder, audit: false, env, allowEnv: 'all', ...options });
}

/** Runs one call in a new runtime and therefore in a new process. */
async function runOnce(dir: string, options?: RuntimeOptions): Promise<unknown> {
  const runtime = open(options);
  try {
    return (await runtime.execute(dir, {})).result;
  } finally {
    await runtime.close();
  }
}

function skill(source: string, manifest: SkillText['manifest'] = {}): string {
  return writeSkill(folder, { source, manifest: { execution: ['wasm'], ...manifest } });
}

const PLAIN = 'import difflib\nWORDS = ["a", "b"]\ndef execute(params):\n    return WORDS\n';

beforeAll(async () => {
  await runOnce(skill('def execute(params):\n    return 1\n'));
});

describe('the image of a skill', () => {
  test('is saved once, and later processes get the same results from it', async () => {
    const before = savedImages(home);
    const dir = skill(PLAIN);
    expect(await runOnce(dir)).toEqual(['a', 'b']);
    const after = savedImages(home);
    expect(after).toHaveLength(before.length + 1);
    for (let process = 0; process < 2; process++) expect(await runOnce(dir)).toEqual(['a', 'b']);
    expect(savedImages(home)).toEqual(after);
  });

  test('contains what the module body printed and was denied', async () => {
    const dir = skill(
      'print("loading")\ntry:\n    open("/etc/passwd")\nexcept OSError:\n    pass\ndef execute(params):\n    print("calling")\n',
    );
    for (let process = 0; process < 2; process++) {
      const runtime = open();
      const { logs, capabilities } = await runtime.execute(dir, {});
      await runtime.close();
      expect(logs).toBe('loading\ncalling\n');
      expect(capabilities.denied.map(({ asked }) => asked)).toEqual(['read /etc/passwd']);
    }
  });

  test('is replaced when it is damaged', async () => {
    const before = new Set(savedImages(home));
    const dir = skill(`${PLAIN}# damaged\n`);
    await runOnce(dir);
    const file = savedImages(home).find((one) => !before.has(one)) ?? '';
    const bytes = readFileSync(file);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    writeFileSync(file, bytes);
    expect(await runOnce(dir)).toEqual(['a', 'b']);
    const mended = readFileSync(file);
    expect(mended).not.toEqual(bytes);
    writeFileSync(file, '');
    expect(await runOnce(dir)).toEqual(['a', 'b']);
    expect(readFileSync(file).length).toBeGreaterThan(1000);
  });

  test('belongs to one source and one grant', async () => {
    const before = savedImages(home).length;
    const dir = skill(`${PLAIN}# one\n`);
    await runOnce(dir);
    await runOnce(skill(`${PLAIN}# other\n`));
    const runtime = open();
    await runtime.execute(dir, {}, { memory: 100 << 20 });
    await runtime.close();
    expect(savedImages(home)).toHaveLength(before + 3);
  });
});

describe('no image is saved', () => {
  test.each([
    ['reads the clock', 'import time\nVALUE = time.time_ns()'],
    ['reads the performance counter', 'import time\nVALUE = time.perf_counter_ns()'],
    ['reads the CPU time', 'import time\nVALUE = time.process_time_ns()'],
    ['reads the modification time of /tmp', 'import os\nVALUE = os.stat("/tmp").st_mtime_ns'],
    [
      'reads the modification time of a file that it created',
      'import os\nos.close(os.open("/dev/shm/f", 66))\nVALUE = os.stat("/dev/shm/f").st_mtime_ns\nos.remove("/dev/shm/f")',
    ],
    ['draws a random number', 'import random\nVALUE = random.random()'],
    ['makes an id', 'import uuid\nVALUE = str(uuid.uuid4())'],
  ])('for a module body that %s, so it runs in every process', async (_, body) => {
    const before = savedImages(home);
    const dir = skill(`${body}\ndef execute(params):\n    return VALUE\n`);
    // The values may be equal by chance, because the clocks of calls start alike and are coarse.
    for (let process = 0; process < 2; process++) expect(await runOnce(dir)).toBeDefined();
    expect(savedImages(home)).toEqual(before);
  });

  test('for a skill that gets values of variables', async () => {
    const before = savedImages(home);
    const manifest = { env_vars: { SAVED_TEST_KEY: { required: true } } };
    const dir = skill(
      'import os\nKEY = os.environ["SAVED_TEST_KEY"]\ndef execute(params):\n    return KEY\n',
      manifest,
    );
    expect(await runOnce(dir)).toBe('an invented value');
    expect(savedImages(home)).toEqual(before);
  });
});

describe('a cell', () => {
  test('starts from a saved image instead of running the module body', () => {
    const engine = readInstalled(home);
    const saved = openCell({ engine, source: 'def execute(params):\n    return "from the image"\n' }).save();
    expect(saved).toBeDefined();
    const cell = openCell({ engine, saved, source: 'raise SystemExit' });
    for (let call = 0; call < 2; call++) expect(callCell(cell)).toBe('from the image');
    expect(cell.save()).toBeUndefined();
  });

  test('keeps a saved image apart from the base image, which other cells use too', () => {
    const saved = openCell({
      engine: readInstalled(home),
      source: 'SEEN = []\ndef execute(params):\n    SEEN.append(1)\n    return len(SEEN)\n',
    }).save();
    const engine = readInstalled(home);
    const before = Buffer.from(engine.image.memory);
    const cell = openCell({ engine, saved, source: 'raise SystemExit' });
    for (let call = 0; call < 3; call++) expect(callCell(cell)).toBe(1);
    expect(Buffer.compare(before, engine.image.memory)).toBe(0);
  });

  test('rejects an image from another base or one that needs more memory', () => {
    const engine = readInstalled(home);
    const source = 'WORD = "mine"\ndef execute(params):\n    return WORD\n';
    const saved = openCell({
      engine,
      source: 'BIG = bytearray(40 << 20)\ndef execute(params):\n    return "big"\n',
    }).save();
    const other = { ...engine, facts: { ...engine.facts, digest: 'another' } };
    expect(callCell(openCell({ engine: other, saved, source }))).toBe('mine');
    expect(callCell(openCell({ engine, saved, source, pages: 512 }))).toBe('mine');
    expect(callCell(openCell({ engine, saved, source }))).toBe('big');
  });
});

describe('the operator', () => {
  const COUNTER = 'import random\nVALUE = random.random()\ndef execute(params):\n    return VALUE\n';

  async function twoCalls(policy: string): Promise<unknown[]> {
    const runtime = open({ policy: parsePolicy(policy, { file: 'policy' }) });
    const loaded = await runtime.load(skill(COUNTER));
    const values = [(await runtime.execute(loaded, {})).result, (await runtime.execute(loaded, {})).result];
    await runtime.close();
    return values;
  }

  test('gets one run of the module body for many calls, or one per call with `strict`', async () => {
    expect(new Set(await twoCalls('{}')).size).toBe(1);
    expect(new Set(await twoCalls('python_wasm: { strict: true }')).size).toBe(2);
  });

  test('gets a new instance for every call with `new_instance`, and the same results', async () => {
    const runtime = open({ policy: parsePolicy('python_wasm: { new_instance: true }', { file: 'policy' }) });
    const loaded = await runtime.load(
      skill('SEEN = []\ndef execute(params):\n    SEEN.append(1)\n    return len(SEEN)\n'),
    );
    for (let call = 0; call < 40; call++) expect((await runtime.execute(loaded, {})).result).toBe(1);
    await runtime.close();
  });

  test('gets the memory reused between instances, but none of its contents', () => {
    const engine = readInstalled(home);
    const source = 'SEEN = []\ndef execute(params):\n    SEEN.append(1)\n    return len(SEEN)\n';
    const cell = openCell({ engine, source, newInstance: true });
    const before = cell.memoryBytes;
    for (let call = 0; call < 20; call++) expect(callCell(cell)).toBe(1);
    expect(cell.memoryBytes).toBe(before);
  });
});
