/**
 * `--json`: every command answers in JSON on stdout, even when it fails.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { openCommandLine, type CommandLine } from './command.ts';

/** Their output is a protocol, a script, or a token, or they run until they are stopped. */
const WITHOUT_JSON = new Set(['mcp', 'serve', 'worker', 'hook', 'completion', '__complete', 'export']);

let line: CommandLine;
let skill: string;

beforeAll(() => {
  line = openCommandLine();
  skill = join(line.folder, 'shout');
  mkdirSync(skill);
  writeFileSync(
    join(skill, 'manifest.yaml'),
    'name: text/shout\nversion: 1.0.0\ndescription: Shouts.\nexecution: [wasm]\ncapabilities: {}\n',
  );
  writeFileSync(join(skill, 'skill.js'), 'export const execute = () => "A";\n');
});

afterAll(() => line.close());

async function answer(...args: string[]): Promise<{ code: number; value: unknown; stderr: string }> {
  const { code, stdout, stderr } = await line.run([...args, '--json']);
  return { code, value: JSON.parse(stdout), stderr };
}

describe('--json', () => {
  test('is an option of every command', () => {
    const program = createProgram(() => undefined);
    const leaves = program.commands.flatMap((one) => (one.commands.length > 0 ? one.commands : [one]));
    const without = leaves.filter((one) => !one.options.some(({ long }) => long === '--json'));
    expect(without.map((one) => one.name()).filter((name) => !WITHOUT_JSON.has(name))).toEqual([]);
  });

  test.each([
    [['rnu'], "Unknown command 'rnu' (Did you mean run?)"],
    [['run'], "Missing required argument 'skill'"],
    [['run', 'a/b', '--nothing'], "Unknown option '--nothing'"],
    [['run', 'a/b', '--execution', 'magic'], "argument 'magic' is invalid"],
  ])('reports the usage error of %j on stdout', async (args, message) => {
    const { code, value, stderr } = await answer(...args);
    expect(code).toBe(2);
    expect(value).toMatchObject({ ok: false, error: { code: 'usage', detail: {} } });
    expect((value as { error: { message: string } }).error.message).toContain(message);
    expect((value as { error: { fix: string } }).error.fix).toContain('--help');
    expect(stderr).toBe('');
  });

  test('reports any other error in the same shape, with the exit code of its kind', async () => {
    const { code, value, stderr } = await answer('inspect', './no/such/skill');
    expect(code).toBe(6);
    expect(value).toMatchObject({
      ok: false,
      error: { code: 'skill_unavailable', fix: expect.any(String) as string },
    });
    expect(stderr).toBe('');
  });

  test('leaves a usage error without it on stderr', async () => {
    const ended = await line.run(['rnu']);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain("error: unknown command 'rnu'");
  });

  test('gives the steps of an author as objects', async () => {
    const digest = expect.stringMatching(/^sha256:/) as string;
    expect(await answer('validate', skill)).toMatchObject({
      code: 0,
      value: { ok: true, name: 'text/shout', version: '1.0.0', digest, lock: 'unlocked' },
    });
    expect(await answer('lock', skill)).toMatchObject({ code: 0, value: { ok: true } });
    const key = join(line.folder, 'publisher.pem');
    expect(await answer('sign', skill, '--new-key', key)).toMatchObject({
      code: 0,
      value: { ok: true, skill, type: 'ed25519' },
    });
    expect(await answer('verify', skill)).toMatchObject({
      code: 5,
      value: { ok: false, error: { code: 'signature_invalid' } },
    });
    expect(await answer('approve', skill, '--yes')).toMatchObject({
      code: 0,
      value: { ok: true, name: 'text/shout', digest, already: false },
    });
    expect(await answer('approve', skill, '--yes')).toMatchObject({ value: { ok: true, already: true } });
    expect(await answer('approve', skill, '--revoke')).toMatchObject({ value: { ok: true, revoked: 1 } });
    expect(await answer('audit', 'verify')).toMatchObject({ code: 0, value: { ok: true } });
    expect(await answer('install', skill)).toMatchObject({
      code: 0,
      value: { ok: true, name: 'text/shout', digest },
    });
    const made = join(line.folder, 'made');
    expect(await answer('init', 'text/made', '--lang', 'typescript', '--dir', made)).toMatchObject({
      code: 0,
      value: { ok: true, folder: made },
    });
  });

  test('refuses an approval without a terminal in JSON too', async () => {
    const { code, value } = await answer('approve', skill);
    expect(code).toBe(2);
    expect(value).toMatchObject({ ok: false, error: { code: 'usage' } });
  });
});

describe('validate', () => {
  const MANIFEST = [
    'name: Bad Name',
    'execution: [wasm, nothing]',
    'capabilities: { network: [{ hosts: x }], filesystem: [{ path: 3 }] }',
    'limits: { timeout: 5 parsecs, memory: lots, other: 1 }',
  ];

  test('lists every problem of a manifest', async () => {
    const folder = join(line.folder, 'bad');
    mkdirSync(folder);
    writeFileSync(join(folder, 'manifest.yaml'), MANIFEST.join('\n'));
    const { code, stderr } = await line.run(['validate', folder]);
    expect(code).toBe(2);
    const { value } = await answer('validate', folder);
    const { problems } = (value as { error: { detail: { problems: { path: string }[] } } }).error.detail;
    expect(problems.length).toBeGreaterThan(5);
    for (const { path } of problems) expect(stderr).toContain(path);
    expect(stderr).toContain(`has ${problems.length} problems:`);
  });
});

describe('parameters', () => {
  const WITH = ['run', 'optimization/prompt_rewriter', '--json'];
  const PARAMS = '{"raw_text": "Please   summarize this"}';

  test.each([
    ['--params-file -', ['--params-file', '-'], PARAMS],
    ['--params @-', ['--params', '@-'], PARAMS],
    ['--params @file', ['--params', '@params.json'], undefined],
  ])('come with %s', async (_, args, input) => {
    writeFileSync(join(line.folder, 'params.json'), PARAMS);
    const options = { cwd: line.folder, ...(input === undefined ? {} : { input }) };
    const { stdout, code } = await line.run([...WITH, ...args], options);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, result: { compressed_text: 'Summarize this' } });
  });

  test('from a file that is missing are a usage error that names it', async () => {
    const { stdout, code } = await line.run([...WITH, '--params', '@no-such.json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error: { code: 'usage', message: 'Cannot read the parameters from "no-such.json"' },
    });
  });
});
