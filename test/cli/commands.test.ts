/**
 * The other commands and their output, as text and as JSON.
 *
 * @module
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, test } from 'vitest';
import { ENFORCED_FIELDS } from '../../src/vocabulary/capabilities.ts';
import { writeSkill } from '../write-skill.ts';
import { openCommandLine, PROMPT_REWRITER } from './command.ts';

const { folder, run, close } = openCommandLine();
afterAll(close);

const COMMANDS = [
  ['run'],
  ['list'],
  ['inspect'],
  ['validate'],
  ['lock'],
  ['install'],
  ['approve'],
  ['sign'],
  ['verify'],
  ['policy', 'explain'],
  ['policy', 'trust'],
  ['audit', 'list'],
  ['audit', 'show'],
  ['audit', 'verify'],
  ['doctor'],
  ['attack'],
  ['bench'],
  ['tools'],
  ['test'],
];

describe('--help', () => {
  test.each(COMMANDS.map((words) => [words.join(' '), words] as const))(
    'of %s has an example',
    async (name, words) => {
      const ended = await run([...words, '--help']);
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      expect(ended.stdout).toContain(`Example:\n  $ skillcell ${name}`);
    },
  );

  test('names every command', async () => {
    const { code, stdout } = await run(['--help']);
    expect(code).toBe(0);
    for (const [command] of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
  });
});

describe('skillcell doctor', () => {
  test('starts with a verdict in five lines', async () => {
    const { code, stdout } = await run(['doctor']);
    expect(code).toBe(0);
    const [verdict = ''] = stdout.split('\n\n');
    const words = verdict.split('\n').map((line) => line.slice(0, 10).trim());
    expect(words).toEqual(['runs', 'partly', 'not here', 'walls', 'next']);
    expect(stdout.trim().split('\n')).toHaveLength(7);
  });

  test('shows with --verbose what enforces each limit in every mode', async () => {
    const { code, stdout } = await run(['doctor', '--verbose']);
    expect(code).toBe(0);
    for (const mode of ['subprocess', 'wasm', 'container', 'in_process'])
      expect(stdout).toMatch(new RegExp(`^${mode} `, 'm'));
    for (const field of ENFORCED_FIELDS)
      expect(stdout).toMatch(
        new RegExp(`^ +${field.replace('.', '\\.')} +(kernel|watchdog|wasm|broker|nobody) `, 'm'),
      );
  });

  test('prints JSON', async () => {
    const { stdout } = await run(['doctor', '--json']);
    const { pairs } = JSON.parse(stdout) as { pairs: { mode: string; available: boolean }[] };
    expect(pairs).toContainEqual(
      expect.objectContaining({ mode: 'subprocess', wall: 'jail', available: true }),
    );
  });
});

describe('for one skill, skillcell', () => {
  test('list shows it', async () => {
    const { code, stdout } = await run(['list']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^optimization\/prompt_rewriter +1\.0\.0 +bundled/m);
    const rows = JSON.parse((await run(['list', '--json'])).stdout) as unknown[];
    expect(rows).toContainEqual(expect.objectContaining({ skill: 'optimization/prompt_rewriter' }));
  });

  test('inspect shows what it declares and would be granted, and runs nothing', async () => {
    const skill = writeSkill(folder, {
      manifest: { limits: { memory: '100MiB' }, env_vars: { TEST_TOKEN: {} } },
      source: 'import json\nraise SystemExit("must not run")\n',
    });
    const { code, stdout } = await run(['inspect', skill, '--timeout', '5s', '--env', 'TEST_TOKEN'], {
      env: { TEST_TOKEN: 'value of the token' },
    });
    expect(code).toBe(0);
    expect(stdout).toContain('imports   json');
    expect(stdout).toMatch(/memory +100MiB/);
    expect(stdout).toMatch(/timeout +5s/);
    expect(stdout).toContain('read the variable TEST_TOKEN');
    const json = await run(['inspect', skill, '--json', '--env', 'TEST_TOKEN'], {
      env: { TEST_TOKEN: 'value of the token' },
    });
    expect(JSON.parse(json.stdout)).toMatchObject({
      runs: true,
      lock: 'unlocked',
      grant: { env: ['TEST_TOKEN'] },
    });
    expect(stdout + json.stdout).not.toContain('value of the token');
  });

  test('inspect says why it cannot run here', async () => {
    const skill = writeSkill(folder, {
      manifest: { capabilities: { network: [{ host: 'example.invalid', methods: ['GET'] }] } },
      source: 'def execute(params):\n    return 1\n',
    });
    const { code, stdout } = await run(['inspect', skill]);
    expect(code).toBe(0);
    expect(stdout).toContain('not here: Cannot enforce "network.inside_tls"');
  });

  test('validate and lock succeed', async () => {
    const skill = writeSkill(folder, { source: 'def execute(params):\n    return 1\n' });
    expect((await run(['validate', skill])).stdout).toMatch(/is valid \(unlocked, sha256:[0-9a-f]{64}\)/);
    expect((await run(['lock', skill])).stdout).toBe(`Wrote ${join(skill, 'skill.lock')}\n`);
    expect(existsSync(join(skill, 'skill.lock'))).toBe(true);
    expect(await run(['validate', skill])).toMatchObject({ code: 0, stderr: '' });
    const before = readFileSync(join(skill, 'skill.lock'), 'utf8');
    await run(['lock', skill]);
    expect(readFileSync(join(skill, 'skill.lock'), 'utf8')).toBe(before);
  });

  test('install makes it available by its id', async () => {
    const skill = writeSkill(folder, { source: 'def execute(params):\n    return "installed"\n' });
    const installed = await run(['install', skill]);
    expect(installed.code).toBe(0);
    const id = /Installed (\S+) /.exec(installed.stdout)?.[1] ?? '';
    expect(await run(['run', id])).toMatchObject({ code: 0, stdout: '"installed"\n' });
    expect((await run(['list'])).stdout).toContain(`${id} `);
  });
});

describe('skillcell audit', () => {
  const own = openCommandLine();
  afterAll(own.close);

  test('lists, shows and verifies calls', async () => {
    expect((await own.run(['audit', 'list'])).stderr).toContain('No receipts yet');
    await own.run(['run', PROMPT_REWRITER, '--params', '{"raw_text":"private words"}']);
    await own.run(['run', 'examples/hostile/read_etc_passwd']);
    const list = await own.run(['audit']);
    expect(list.stdout.trim().split('\n')).toHaveLength(3);
    expect(list.stdout).toMatch(/hostile\/read_etc_passwd +subprocess +capability_denied/);
    const denied = JSON.parse((await own.run(['audit', 'list', '--denied', '--json'])).stdout) as {
      receipt: { call_id: string };
    }[];
    expect(denied).toHaveLength(1);
    const shown = await own.run(['audit', 'show', denied[0]?.receipt.call_id ?? '']);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      receipt: { caller: 'cli', denied: [{ asked: 'read /etc/passwd' }] },
    });
    const verified = await own.run(['audit', 'verify']);
    expect(verified.stdout).toMatch(/^2 receipts, chain intact, head [0-9a-f]{64}\n$/);
    const everything = await own.run(['audit', 'list', '--json']);
    expect(everything.stdout).not.toContain('private words');
  });

  test('reports that a remembered head is gone, without naming a receipt', async () => {
    const verified = await own.run(['audit', 'verify', '--head', 'a'.repeat(64)]);
    expect(verified.code).toBe(1);
    expect(verified.stdout).toMatch(/^Broken: the remembered head is missing/);
  });

  test('changes no file and creates no home when it only reads', async () => {
    const home = join(own.folder, 'home');
    const state = (): string[] =>
      readdirSync(home)
        .toSorted()
        .map((name) => `${name} ${statSync(join(home, name)).mtimeMs} ${statSync(join(home, name)).mode}`);
    const before = state();
    for (const command of ['list', 'verify']) expect((await own.run(['audit', command])).code).toBe(0);
    expect(state()).toEqual(before);
    const env = { SKILLCELL_HOME: join(own.folder, 'none') };
    expect((await own.run(['audit', 'verify'], { env })).stdout).toMatch(/^0 receipts, chain intact/);
    expect(existsSync(env.SKILLCELL_HOME)).toBe(false);
  });

  test('keeps content only if requested, and detects a modified log', async () => {
    const params = '{"raw_text":"kept words"}';
    await own.run(['run', PROMPT_REWRITER, '--params', params, '--keep-content']);
    expect((await own.run(['audit', 'list', '--json'])).stdout).toContain('kept words');
    const database = new DatabaseSync(join(own.folder, 'home/audit.db'));
    const triggers = database.prepare("SELECT name FROM sqlite_master WHERE type = 'trigger'").all();
    for (const { name } of triggers) database.exec(`DROP TRIGGER "${String(name)}"`);
    database.exec(`UPDATE receipt SET body = replace(body, 'kept words', 'other words')`);
    database.close();
    const verified = await own.run(['audit', 'verify']);
    expect(verified).toMatchObject({ code: 1 });
    expect(verified.stdout).toContain('Broken at receipt 3');
  });
});

describe('skillcell attack', () => {
  test('runs an attack from the corpus and reports that it was stopped', async () => {
    const { code, stdout } = await run(['attack', '--mode', 'subprocess', '--only', 'read_etc_passwd']);
    expect(code).toBe(0);
    expect(stdout).toContain('1 of 1 attacks stopped');
  });
});
