/**
 * An agent cannot give permissions to the scripts it runs: not as arguments, not as metadata, not by their spelling.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.ts';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { openFolder } from '../write-skill.ts';
import { closeAll, connectTo } from './connect.ts';

const folder = openFolder();
const skill = join(folder, 'skills', 'stranger');
const runtime = createRuntime({
  home: join(folder, 'home'),
  cwd: folder,
  pool: { size: 0 },
  env: { INVENTED_TOKEN: 'invented-0123' },
});
const skills = new SkillServer({
  runtime,
  execute: { isolated: true, workspace: join(folder, 'workspace') },
});
const grants = { write: ['.'], env: ['INVENTED_TOKEN'], programs: ['id'], hosts: ['a.example'] };
let client: Client;

beforeAll(async () => {
  mkdirSync(join(skill, 'scripts'), { recursive: true });
  mkdirSync(join(folder, 'workspace'));
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: stranger\ndescription: Tries things.\n---\n');
  const script = 'import os\nprint(os.environ.get("INVENTED_TOKEN"))\nopen("made", "w")\n';
  writeFileSync(join(skill, 'scripts', 'try.py'), script);
  client = await connectTo(skills);
});

afterAll(() => closeAll([client, skills, runtime], folder));

const exec = (given: Record<string, unknown>, more: object = {}): ReturnType<Client['callTool']> =>
  client.callTool({ name: 'skillcell_exec', arguments: { skill: 'stranger', ...given }, ...more });
const command = ['python', 'scripts/try.py'];

describe('an agent', () => {
  test('that passes grants as arguments is refused', async () => {
    const answer = await exec({ command, grants });
    expect(answer.isError).toBe(true);
    expect(JSON.stringify(answer.content)).toContain('grants');
  });

  test('that passes grants beside its arguments gets none of them', async () => {
    const answer = JSON.stringify(await exec({ command }, { _meta: { grants }, grants }));
    expect(answer).toContain('None');
    expect(answer).not.toContain('invented-0123');
    expect(answer).toContain('write /workspace/made');
  });

  test('that names options of the command line passes them to the script', async () => {
    const words = [...command, '--write', '.', '--env', 'INVENTED_TOKEN'];
    const answer = JSON.stringify(await exec({ command: words }));
    expect(answer).not.toContain('invented-0123');
    expect(answer).toContain('write /workspace/made');
  });
});
