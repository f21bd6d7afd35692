/**
 * in_process on the command line: refused by default, allowed with a flag, refused if the operator forbids it.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';
import { writeTree } from '../load/helpers.ts';
import { openCommandLine } from './command.ts';

const { folder, run, close } = openCommandLine();
const elsewhere = openFolder();
afterAll(() => {
  close();
  removeFolder(elsewhere);
});

const FLAG = '--trust-remote-code';
const SOURCE = `
export function execute() {
  console.log('printed by the skill');
  return { ran: true };
}
`;

const RESTLESS = `
export function execute() {
  setInterval(() => console.log('late'), 0);
  return { ran: true };
}
`;

function strangersSkill(execution: string[]): string {
  return writeSkill(elsewhere, { manifest: { execution }, files: { 'skill.ts': SOURCE } });
}

describe('a skill whose manifest says "execution_mode: isolated"', () => {
  const manifest = { execution: ['in_process', 'wasm'], execution_mode: 'isolated' };
  const dir = writeSkill(elsewhere, { manifest, files: { 'skill.ts': SOURCE } });

  test.each([[[]], [[FLAG]], [['--execution', 'in_process']], [['--execution', 'in_process', FLAG]]])(
    'never runs in the host process: %j',
    async (flags) => {
      const ended = await run(['run', dir, '--params', '{}', '--json', ...flags]);
      if (flags.includes('--execution')) {
        expect(ended.code).toBe(5);
        expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code: 'untrusted' } });
        expect(ended.stdout).toContain('execution_mode: isolated');
      } else
        expect(JSON.parse(ended.stdout)).toMatchObject({
          ok: true,
          execution: { mode: 'wasm', wall: 'jail' },
        });
    },
  );

  test('shows the requirement in inspect and policy explain', async () => {
    const inspected = await run(['inspect', dir]);
    expect(inspected.stdout).toContain('execution_mode isolated');
    expect(inspected.stdout).toMatch(/^requires {2}the manifest requires a jail or a container/m);
    const explained = await run(['policy', 'explain', dir]);
    expect(explained.stdout).toMatch(/^execution +isolated .*wasm in a jail/m);
  });
});

describe('an in_process skill outside the project', () => {
  const dir = strangersSkill(['in_process']);
  const call = ['run', dir, '--params', '{}'];

  test('does not run, and the message suggests a sandboxed mode', async () => {
    const ended = await run(call);
    expect(ended).toMatchObject({ code: 5, stdout: '' });
    expect(ended.stderr).toContain('error[untrusted]');
    expect(ended.stderr).toContain('sandboxed');
    const both = await run([
      'run',
      strangersSkill(['in_process', 'subprocess']),
      '--params',
      '{}',
      '--execution',
      'in_process',
    ]);
    expect(both).toMatchObject({ code: 5, stdout: '' });
    expect(both.stderr).toContain('Run it sandboxed with --execution subprocess');
  });

  test('cannot keep the command alive or add to its output with timers that it leaves running', async () => {
    const restless = writeSkill(elsewhere, {
      manifest: { execution: ['in_process'] },
      files: { 'skill.ts': RESTLESS },
    });
    const ended = await run(['run', restless, '--params', '{}', FLAG]);
    expect(ended).toMatchObject({ code: 0, stdout: '{"ran":true}\n' });
  });

  test.each([
    ['the flag', [FLAG], {}],
    ['the variable', [], { SKILLCELL_TRUST_REMOTE_CODE: '1' }],
  ])('runs with %s and prints a warning', async (_, flags, env) => {
    const ended = await run([...call, ...flags], { env });
    expect(ended).toMatchObject({ code: 0, stdout: '{"ran":true}\n' });
    expect(ended.stderr).toContain('warning: Runs without isolation');
    expect(ended.stderr).toMatch(new RegExp(`${dir} \\(sha256:[0-9a-f]{64}\\)`));
    expect(ended.stderr).toContain('printed by the skill');
  });

  test.each(['subprocess', 'wasm'])('does not run if the operator requires %s', async (minimum) => {
    const policy = join(folder, `${minimum}.yaml`);
    writeFileSync(policy, `minimum: { external: ${minimum} }\n`, { mode: 0o644 });
    const ended = await run([...call, FLAG, '--policy', policy]);
    expect(ended).toMatchObject({ code: 5, stdout: '' });
    expect(ended.stderr).toContain(`weaker than "${minimum}"`);
  });

  test('does not run with a limit that is not enforced', async () => {
    const ended = await run([...call, FLAG, '--timeout', '1s']);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('error[unenforceable]');
  });

  test('is never run in_process if another mode is available', async () => {
    const listed = strangersSkill(['subprocess', 'in_process']);
    const { code, stdout } = await run(['run', listed, '--params', '{}', '--json', FLAG]);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { execution: { mode: 'subprocess', wall: 'jail' } },
    ]);
  });

  test('is recorded with its mode in the receipt', async () => {
    const { stdout } = await run([...call, FLAG, '--json']);
    const { call_id: id } = JSON.parse(stdout) as { call_id: string };
    const shown = await run(['audit', 'show', id]);
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain('in_process');
  });
});

test('the same source returns the same JSON in wasm, subprocess and in_process', async () => {
  const params = JSON.stringify({
    text: 'Ein Satz. Noch ein Satz! 日本語のテキスト？\nA third line, a line',
    top: 3,
  });
  const results = new Map<string, string>();
  for (const mode of ['wasm', 'subprocess', 'in_process']) {
    const { code, stdout, stderr } = await run([
      'run',
      'text/word_stats',
      '--params',
      params,
      '--execution',
      mode,
    ]);
    expect(code, stderr).toBe(0);
    results.set(mode, stdout);
  }
  expect(results.get('subprocess')).toBe(results.get('wasm'));
  expect(results.get('in_process')).toBe(results.get('wasm'));
  expect(JSON.parse(results.get('wasm') ?? '')).toMatchObject({ lines: 2 });
});

test('doctor shows in_process and says that nothing is enforced there', async () => {
  const { stdout } = await run(['doctor', '--json']);
  const pairs = (JSON.parse(stdout) as { pairs: { mode: string; engine: string; enforces: object }[] }).pairs;
  expect(pairs).toContainEqual(
    expect.objectContaining({ mode: 'subprocess', wall: 'jail', engine: 'node', available: true }),
  );
  const inHost = pairs.find(({ mode }) => mode === 'in_process');
  expect(inHost).toMatchObject({ wall: 'none', engine: 'node', available: true });
  expect(new Set(Object.values(inHost?.enforces ?? {}).map(({ by }: { by: string }) => by))).toEqual(
    new Set(['nobody']),
  );
});

test('no flag lets a skill in a folder of agents run in_process', async () => {
  const dir = join(elsewhere, '.claude/skills/copied');
  const manifest = {
    name: 'a/copied',
    version: '1.0.0',
    description: 'x',
    execution: ['in_process'],
    capabilities: {},
  };
  writeTree(dir, { 'manifest.yaml': JSON.stringify(manifest), 'skill.ts': SOURCE });
  const { code, stderr } = await run(['run', dir, '--params', '{}', FLAG]);
  expect([code, stderr]).toEqual([5, expect.stringContaining('error[untrusted]')]);
});
