/**
 * `skillcell hook` as an agent starts it, and the files of the plugin for Claude Code.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, describe, expect, test } from 'vitest';
import { openCommandLine, ROOT } from './command.ts';

const command = openCommandLine();
afterAll(() => command.close());
const PLUGIN = join(ROOT, 'plugins/claude-code');
const project = join(command.folder, 'project');
mkdirSync(join(project, '.claude/skills/pdf/scripts'), { recursive: true });
writeFileSync(join(project, '.claude/skills/pdf/SKILL.md'), '---\nname: pdf\ndescription: A skill\n---\n');

function eventFor(text: string): string {
  return JSON.stringify({
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: text },
    cwd: project,
  });
}

const json = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

/** What the documentation of Claude Code says about hooks, in settings and in a plugin. */
const HOOKS_SCHEMA = {
  type: 'object',
  required: ['hooks'],
  additionalProperties: false,
  properties: {
    description: { type: 'string' },
    hooks: {
      type: 'object',
      additionalProperties: false,
      properties: {
        PreToolUse: {
          type: 'array',
          minItems: 1,
          items: {
            type: 'object',
            required: ['hooks'],
            additionalProperties: false,
            properties: {
              matcher: { const: 'Bash' },
              hooks: {
                type: 'array',
                minItems: 1,
                items: {
                  type: 'object',
                  required: ['type', 'command'],
                  additionalProperties: false,
                  properties: {
                    type: { const: 'command' },
                    command: { type: 'string', pattern: 'hook' },
                    timeout: { type: 'number', minimum: 1 },
                    onFailure: { const: 'block' },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
};
const NAME = { type: 'string', pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$' };
const PERSON = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };
const PLUGIN_SCHEMA = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: {
    name: NAME,
    version: { type: 'string', pattern: String.raw`^\d+\.\d+\.\d+$` },
    description: { type: 'string' },
    author: PERSON,
    license: { type: 'string' },
    keywords: { type: 'array', items: { type: 'string' } },
  },
};
const MARKETPLACE_SCHEMA = {
  type: 'object',
  required: ['name', 'owner', 'plugins'],
  properties: {
    name: NAME,
    owner: PERSON,
    plugins: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['name', 'source'],
        properties: { name: NAME, source: { type: 'string', pattern: String.raw`^\./` } },
      },
    },
  },
};

function errorsOf(schema: object, value: unknown): unknown {
  const check = new Ajv({ strict: false }).compile(schema);
  return check(value) ? [] : check.errors;
}

describe('skillcell hook', () => {
  test('prints a rewritten command and nothing else', async () => {
    const ended = await command.run(['hook'], {
      input: eventFor('python .claude/skills/pdf/scripts/x.py a'),
    });
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    const { hookSpecificOutput } = JSON.parse(ended.stdout) as {
      hookSpecificOutput: Record<string, { command: string }>;
    };
    expect(hookSpecificOutput['permissionDecision']).toBe('ask');
    expect(hookSpecificOutput['updatedInput']?.command).toMatch(
      / exec \S+\/\.claude\/skills\/pdf --workspace \S+ --no-stdin -- python \.claude\/skills\/pdf\/scripts\/x\.py a$/,
    );
  });

  test('prints nothing for a command that runs no skill', async () => {
    expect(await command.run(['hook'], { input: eventFor('npm test') })).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  test('blocks with exit code 2 and a sentence if it cannot read its input', async () => {
    const ended = await command.run(['hook'], { input: '{"tool_name": "Bash"' });
    expect([ended.code, ended.stdout]).toEqual([2, '']);
    expect(ended.stderr).toMatch(/^Skillcell could not read the call, so it was blocked: .*JSON\.\n$/);
  });

  test('blocks input that is larger than it reads', async () => {
    const ended = await command.run(['hook'], { input: eventFor('x'.repeat(5 * 1024 * 1024)) });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('too large');
  });

  test('blocks with exit code 2 on a wrong option, because agents go on after other codes', async () => {
    expect((await command.run(['hook', '--answer', 'allow'], { input: eventFor('ls') })).code).toBe(2);
  });

  test('takes the answer as an option', async () => {
    const input = eventFor('python .claude/skills/pdf/scripts/x.py a');
    const ended = await command.run(['hook', '--answer', 'deny'], { input });
    expect(ended.stdout).toContain('"permissionDecision":"deny"');
  });

  test.each(['claude', 'codex'])('prints valid settings for %s', async (agent) => {
    const { stdout, code } = await command.run(['hook', '--print-config', agent]);
    expect(code).toBe(0);
    expect(errorsOf(HOOKS_SCHEMA, JSON.parse(stdout))).toEqual([]);
  });
});

describe('the plugin for Claude Code', () => {
  test('has files as the documentation describes them', () => {
    expect(errorsOf(PLUGIN_SCHEMA, json(join(PLUGIN, '.claude-plugin/plugin.json')))).toEqual([]);
    expect(errorsOf(HOOKS_SCHEMA, json(join(PLUGIN, 'hooks/hooks.json')))).toEqual([]);
    expect(errorsOf(MARKETPLACE_SCHEMA, json(join(ROOT, '.claude-plugin/marketplace.json')))).toEqual([]);
    expect(json(join(PLUGIN, '.mcp.json'))).toMatchObject({
      mcpServers: { skillcell: { command: 'skillcell', args: ['mcp'] } },
    });
    // Only the manifest belongs in this folder.
    expect(globSync('*', { cwd: join(PLUGIN, '.claude-plugin') })).toEqual(['plugin.json']);
  });

  test('is listed with its folder, and has the version of the package', () => {
    const market = json(join(ROOT, '.claude-plugin/marketplace.json')) as {
      plugins: { name: string; source: string }[];
    };
    const plugin = json(join(PLUGIN, '.claude-plugin/plugin.json')) as { name: string; version: string };
    const { version } = json(join(ROOT, 'package.json')) as { version: string };
    expect(market.plugins.map(({ name, source }) => [name, join(ROOT, source)])).toEqual([
      [plugin.name, PLUGIN],
    ]);
    expect(plugin.version).toBe(version);
  });
});
