/**
 * Wrong commands and requests: each answer says what to send instead, and sending that works.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { openCommandLine } from '../cli/command.ts';
import { openStage, type Ask, type Stage } from '../http/stage.ts';
import { clientOf } from '../mcp/project.ts';
import { writeSkill } from '../write-skill.ts';
import { words } from './scene.ts';

const ECHO = { source: 'def execute(params):\n    return params\n' };
const { folder, run, close } = openCommandLine();
const cwd = join(folder, 'project');
mkdirSync(cwd);
writeSkill(cwd, { ...ECHO, id: 'test/echo' });
afterAll(close);

interface Wrong {
  args: string;
  /** The command after the fix was followed. */
  instead: (fix: string) => string;
  says: RegExp;
}

const quoted = (fix: string): string => /`([^`]+)`/.exec(fix)?.[1] ?? '';
const after =
  (marker: string) =>
  (fix: string): string =>
    fix.slice(fix.indexOf(marker) + marker.length).replace(/\.$/, '');

const COMMANDS: Wrong[] = [
  {
    args: 'skillcell audit list --limit many',
    says: /--limit 20/,
    instead: () => 'skillcell audit list --limit 20',
  },
  {
    args: 'skillcell run skills/test/echo --params {bad',
    says: /--params '\{"key": "value"\}'/,
    instead: (fix) => `skillcell run skills/test/echo ${after('such as ')(fix)}`,
  },
  {
    args: `skillcell run skills/test/echo --params {} --params-file params.json`,
    says: /^Use only one of them/,
    instead: () => 'skillcell run skills/test/echo --params {}',
  },
  {
    args: 'skillcell run skills/test/echo --env A=b',
    says: /Pass only the name/,
    instead: () => 'skillcell run skills/test/echo --env A',
  },
  {
    args: 'skillcell run test/eco',
    says: /test\/echo|skillcell list/,
    instead: () => 'skillcell run test/echo',
  },
  {
    args: 'skillcell init Text/Shout --lang python',
    says: /"text\/shout"/,
    instead: (fix) => `skillcell init ${/"(text\/shout)"/.exec(fix)?.[1] ?? ''} --lang python --dir made`,
  },
  {
    args: 'skillcell audit show nothing',
    says: /`skillcell audit list`/,
    instead: quoted,
  },
  {
    args: 'skillcell run skills/test/echo --timeout soon',
    says: /Write a duration such as \S+/,
    instead: (fix) => `skillcell run skills/test/echo --timeout ${/such as "?([\w.]+)/.exec(fix)?.[1] ?? ''}`,
  },
  {
    args: 'skillcell sign skills/test/echo --key missing.pem',
    says: /skillcell lock /,
    instead: after('Create it first: '),
  },
];

test.each(COMMANDS)('$args', async ({ args, says, instead }) => {
  const wrong = await run(words(args).slice(1), { cwd });
  expect(wrong.code, wrong.stdout).not.toBe(0);
  const [, fix = ''] = /^fix: (.*)$/m.exec(wrong.stderr) ?? [];
  expect(fix, wrong.stderr).toMatch(says);
  const right = await run(words(instead(fix)).slice(1), { cwd });
  expect(right.code, `${instead(fix)}\n${right.stderr}`).toBe(0);
});

test('an untrusted policy is trusted by the command that the fix shows', async () => {
  const project = join(folder, 'with-policy');
  mkdirSync(project);
  writeFileSync(join(project, 'skillcell.policy.yaml'), 'ceilings: { timeout: 10m }\n');
  const skill = writeSkill(project, ECHO);
  const wrong = await run(['run', skill], { cwd: project });
  expect(wrong.code).toBe(5);
  const command = quoted(/^fix: (.*)$/m.exec(wrong.stderr)?.[1] ?? '');
  expect((await run(words(command).slice(1), { cwd: project })).code).toBe(0);
  expect((await run(['run', skill], { cwd: project })).code).toBe(0);
});

test('a missing skill.lock is mentioned once per skill', async () => {
  const skill = writeSkill(cwd, ECHO);
  const first = await run(['run', skill], { cwd });
  const second = await run(['run', skill], { cwd });
  expect(first.stderr).toContain('no skill.lock');
  expect(second).toMatchObject({ code: 0 });
  expect(second.stderr).not.toContain('no skill.lock');
});

test('a parameter that names a path which the cell cannot see gets a warning', async () => {
  const skill = writeSkill(cwd, ECHO);
  const hidden = await run(['run', skill, '--params', JSON.stringify({ in: cwd })], { cwd });
  expect(hidden.code).toBe(0);
  expect(hidden.stderr).toContain(`warning: The parameter "${cwd}" exists on this machine`);
  expect(hidden.stderr).toContain(`--workspace ${cwd}`);
  const inside = await run(
    ['run', skill, '--params', JSON.stringify({ in: join(cwd, 'skills') }), '--workspace', cwd],
    { cwd },
  );
  expect(inside.stderr).toContain('pass "/workspace/skills" instead');
  const absent = await run(['run', skill, '--params', '{"in":"/nothing/like/this"}'], { cwd });
  expect(absent.stderr).not.toContain('exists on this machine');
});

describe('over HTTP', () => {
  let stage: Stage;
  beforeAll(async () => void (stage = await openStage({ skills: { echo: ECHO } })));
  afterAll(() => stage[Symbol.asyncDispose]());

  const execute = '/v1/skills/test/echo/execute';
  const right: Ask = { method: 'POST', as: 'caller', json: { params: {} } };
  const refusals: { name: string; path: string; wrong: Ask; says: RegExp }[] = [
    {
      name: 'no token',
      path: execute,
      wrong: { method: 'POST', json: { params: {} } },
      says: /Authorization: Bearer TOKEN/,
    },
    {
      name: 'a token without the scope',
      path: execute,
      wrong: { ...right, as: 'reader' },
      says: /token with that scope/,
    },
    {
      name: 'another type of content',
      path: execute,
      wrong: { method: 'POST', as: 'caller', headers: { 'content-type': 'text/plain' }, json: {} },
      says: /Content-Type: application\/json/,
    },
    { name: 'an unknown skill', path: '/v1/skills/test/eco/execute', wrong: right, says: /GET \/v1\/skills/ },
    { name: 'an unknown route', path: '/v1/nothing', wrong: { as: 'caller' }, says: /GET \/openapi\.json/ },
  ];
  test.each(refusals)('$name', async ({ path, wrong, says }) => {
    const refused = await stage.ask(path, wrong);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    const body = (await refused.json()) as { error: { fix: string } };
    expect(body.error.fix).toMatch(says);
    const [, route] = /GET (\/[\w./]+)/.exec(body.error.fix) ?? [];
    if (route !== undefined) expect((await stage.ask(route, { as: 'both' })).status).toBe(200);
    expect((await stage.ask(execute, right)).status).toBe(200);
  });

  test('a refusal over MCP carries the fix', async () => {
    const skills = new SkillServer({ runtime: stage.runtime, searchOver: 10_000, onNote: () => undefined });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const client = clientOf('2025-11-25');
    await skills.open().connect(ours);
    await client.connect(theirs);
    writeSkill(stage.folder, {
      id: 'test/strict',
      ...ECHO,
      manifest: {
        parameters: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
      },
    });
    await expect
      .poll(async () => (await client.listTools()).tools.map(({ name }) => name))
      .toContain('test__strict');
    const wrong = await client.callTool({ name: 'test__strict', arguments: {} });
    expect(wrong.isError).toBe(true);
    expect(JSON.stringify(wrong)).toContain('text');
    const fine = await client.callTool({ name: 'test__strict', arguments: { text: 'a' } });
    expect(fine.isError ?? false).toBe(false);
    await client.close();
    await skills.close();
  });
});

test('the documents show the fix of today', () => {
  expect(readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')).toContain(
    'fix: If the skill needs this:',
  );
});
