/**
 * Python in Wasm gives the same results as the system Python, with and without a jail.
 *
 * @module
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime, type Runtime } from '../../../../src/index.ts';
import { packageRoot } from '../../../../src/package-root.ts';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const { runtime: jailed, folder, close } = openTestRuntime();
const plain = createRuntime({
  home: jailed.home,
  cwd: folder,
  audit: false,
  jail: { bwrap: '/nonexistent' },
});
afterAll(async () => {
  await plain.close();
  await close();
});

// Prepares the engine once, because that takes longer than a test should.
beforeAll(async () => {
  await jailed.plan(await jailed.load(REWRITER), { execution: 'wasm' });
});

const REWRITER = join(packageRoot(), 'skills/optimization/prompt_rewriter');
const TEXTS = [
  'Please could you kindly help me to write a function in order to sort a list? Thank you! `x  = 1`',
  'äöü 😀 \u2028 very long '.repeat(500),
  'Do not delete "this quote". It is important to note that 12 apples are due to the fact that x.',
  '\u0000abc',
];

describe('the bundled skill', () => {
  test.each(TEXTS)('prompt_rewriter gives the same result for %j', async (raw_text) => {
    for (const compression_aggression of ['low', 'medium', 'high']) {
      const params = { raw_text, compression_aggression };
      const native = await jailed.execute(REWRITER, params, { execution: 'subprocess' });
      const wasm = await jailed.execute(REWRITER, params, { execution: 'wasm' });
      expect(wasm.result).toEqual(native.result);
      expect(wasm.execution).toMatchObject({ mode: 'wasm', wall: 'jail', engine: 'python-wasm' });
    }
  });
});

test('without a jail the wall is a process, and doctor says so', async () => {
  const { execution, result } = await plain.execute(
    REWRITER,
    { raw_text: 'Please help' },
    { execution: 'wasm' },
  );
  expect(execution).toMatchObject({ mode: 'wasm', wall: 'process', engine: 'python-wasm', fresh: true });
  expect(result).toMatchObject({ compressed_text: 'Help' });
  const pair = (await plain.doctor()).find(({ engine }) => engine === 'python-wasm');
  expect(pair).toMatchObject({ wall: 'process', available: true });
});

test('source inspection without a jail has the same findings', async () => {
  const source =
    'import urllib.request\nimport os\nURL = "https://api.invalid/x"\ndef execute(p):\n    return os.environ.get("KEY")\n';
  const dir = writeSkill(folder, { source, manifest: { capabilities: undefined } });
  const [here, there] = [await jailed.load(dir), await plain.load(dir)];
  expect(there.bundle.inspection).toEqual(here.bundle.inspection);
  expect(there.bundle.inspection.hosts).toHaveLength(1);
});

const FILES = `
  import os, shutil
  def execute(params):
      found = {"in": open("/workspace/in.txt").read(), "list": sorted(os.listdir("/workspace"))}
      with open("/workspace/out.txt", "w") as file:
          file.write("from wasm ä")
      with open("/workspace/out.txt", "a") as file:
          file.write("!")
      os.makedirs("/workspace/a/b")
      open("/workspace/a/b/c", "w").close()
      os.rename("/workspace/a/b/c", "/workspace/moved")
      shutil.rmtree("/workspace/a")
      found["after"] = sorted(os.listdir("/workspace"))
      found["size"] = os.path.getsize("/workspace/out.txt")
      for name, act in {
          "link": lambda: open("/workspace/link").read(),
          "up": lambda: open("/workspace/../etc/passwd").read(),
          "quota": lambda: open("/workspace/big", "wb").write(bytes(1 << 20)),
      }.items():
          try:
              found[name] = act()
          except OSError as error:
              found[name] = type(error).__name__
      return found
`;

function openWorkspace(): string {
  const workspace = mkdtempSync(join(folder, 'workspace-'));
  chmodSync(workspace, 0o777);
  writeFileSync(join(workspace, 'in.txt'), 'from the host');
  symlinkSync('/etc/passwd', join(workspace, 'link'));
  return workspace;
}

describe.each([
  ['in a jail', (): Runtime => jailed],
  ['without a jail', (): Runtime => plain],
])('granted directories %s', (_, runtime) => {
  const manifest = {
    capabilities: {
      filesystem: [{ path: '${workspace}', access: 'read-write', max_bytes: '64KiB' }],
    },
    execution: ['wasm'],
  };

  test('are read and written through the broker, and nothing outside them is', async () => {
    const workspace = openWorkspace();
    const { result, capabilities } = await runtime().execute(
      writeSkill(folder, { source: FILES, manifest }),
      {},
      { workspace },
    );
    expect(result).toEqual({
      in: 'from the host',
      list: ['in.txt', 'link'],
      after: ['in.txt', 'link', 'moved', 'out.txt'],
      size: 13,
      link: 'OSError',
      up: 'CapabilityDenied',
      quota: 'OSError',
    });
    expect(readFileSync(join(workspace, 'out.txt'), 'utf8')).toBe('from wasm ä!');
    expect(capabilities.used).toContainEqual(expect.objectContaining({ asked: 'read /workspace/in.txt' }));
    expect(capabilities.denied).toContainEqual(expect.objectContaining({ asked: 'read /etc/passwd' }));
  });

  test('that only the module body reads are read again in every call', async () => {
    const workspace = openWorkspace();
    const source = 'TEXT = open("/workspace/in.txt").read()\ndef execute(params):\n    return TEXT\n';
    const skill = await runtime().load(writeSkill(folder, { source, manifest }));
    expect((await runtime().execute(skill, {}, { workspace })).result).toBe('from the host');
    writeFileSync(join(workspace, 'in.txt'), 'changed');
    expect((await runtime().execute(skill, {}, { workspace })).result).toBe('changed');
  });

  test('that are read-only cannot be written', async () => {
    const workspace = openWorkspace();
    mkdirSync(join(workspace, 'sub'));
    const readOnly = {
      capabilities: { filesystem: [{ path: '${workspace}', access: 'read' }] },
      execution: ['wasm'],
    };
    const source = 'def execute(params):\n    open("/workspace/new", "w")\n';
    const outcome = await runtime().execute(
      writeSkill(folder, { source, manifest: readOnly }),
      {},
      { workspace, reject: false },
    );
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'capability_denied',
        detail: { capability: 'filesystem', asked: 'write /workspace/new' },
      },
    });
  });
});

test('every call sees the files that the module body left in /tmp, and no others', async () => {
  const source = `
    import os
    open("/tmp/from_body", "w").close()
    def execute(params):
        found = os.listdir("/tmp")
        open("/tmp/from_call", "w").close()
        return found
  `;
  const skill = await jailed.load(writeSkill(folder, { source }));
  for (let call = 0; call < 3; call++)
    expect((await jailed.execute(skill, {}, { execution: 'wasm' })).result).toEqual(['from_body']);
});

test('output of the module body is in the log of every call', async () => {
  const skill = await jailed.load(
    writeSkill(folder, { source: 'print("loading")\ndef execute(params):\n    print("calling")\n' }),
  );
  for (let call = 0; call < 2; call++)
    expect((await jailed.execute(skill, {}, { execution: 'wasm' })).logs).toBe('loading\ncalling\n');
});

test('a skill that declares processes runs in another mode', async () => {
  const source = 'def execute(params):\n    return "ran"\n';
  const manifest = { limits: { processes: 2 }, execution: ['wasm', 'subprocess'] };
  const dir = writeSkill(folder, { source, manifest });
  expect((await jailed.execute(dir, {})).execution?.engine).toBe('python');
  const outcome = await jailed.execute(dir, {}, { execution: 'wasm', reject: false });
  expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_unavailable' } });
});
