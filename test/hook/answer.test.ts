/**
 * The answers of the hook: documented input, other tools, unreadable input, and the permission of a rewritten command.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { answerHook, judgeCommand, MAX_COMMAND, type HookOptions } from '../../src/hook/answer.ts';
import { makeFixture } from './jail.ts';

const fixture = makeFixture();
afterAll(() => rmSync(fixture.root, { recursive: true, force: true }));
const RUNS = 'python .claude/skills/pdf/scripts/a.py in.pdf';
const SKILL = join(fixture.project, '.claude/skills/pdf');
const options: HookOptions = { home: fixture.home, env: {}, program: 'skillcell', answer: 'ask' };

/** As Claude Code documents it. */
function eventFor(command: unknown, more: object = {}): string {
  return JSON.stringify({
    session_id: 'abc123',
    transcript_path: '/tmp/transcript.jsonl',
    cwd: fixture.project,
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command, description: 'Fill the form', timeout: 120_000 },
    tool_use_id: 'toolu_01',
    ...more,
  });
}

function decisionFor(command: string, more: Partial<HookOptions> = {}): Record<string, unknown> {
  const { output = '{}' } = answerHook(eventFor(command), { ...options, ...more });
  const { hookSpecificOutput } = JSON.parse(output) as { hookSpecificOutput: Record<string, unknown> };
  return hookSpecificOutput;
}

const rewritten = `skillcell exec ${SKILL} --workspace ${fixture.project} --no-stdin -- ${RUNS}`;

describe('the hook', () => {
  test('asks the user about the rewritten command, and keeps the other fields', () => {
    expect(decisionFor(RUNS)).toEqual({
      hookEventName: 'PreToolUse',
      permissionDecision: 'ask',
      permissionDecisionReason:
        'Skillcell: the command runs a script of a skill in the sandbox of Skillcell.',
      updatedInput: { command: rewritten, description: 'Fill the form', timeout: 120_000 },
    });
  });

  test('decides nothing with the answer "rules", unless the command gives permissions', () => {
    expect(decisionFor(RUNS, { answer: 'rules' })).not.toHaveProperty('permissionDecision');
    const giving = decisionFor(`${RUNS}; skillcell exec x --write . -- y`, { answer: 'rules' });
    expect(giving).toMatchObject({ permissionDecision: 'ask' });
  });

  test('names the command to run with the answer "deny"', () => {
    const { permissionDecision, permissionDecisionReason, updatedInput } = decisionFor(RUNS, {
      answer: 'deny',
    });
    expect([permissionDecision, updatedInput]).toEqual(['deny', undefined]);
    expect(permissionDecisionReason).toContain(rewritten);
  });

  test('leaves the command alone that it told the model to run', () => {
    expect(answerHook(eventFor(rewritten), options)).toEqual({});
  });

  test('tells the model what to do instead of a command that it denies', () => {
    const { permissionDecision, permissionDecisionReason } = decisionFor(
      'cat .claude/skills/pdf/scripts/run.sh | bash',
    );
    expect(permissionDecision).toBe('deny');
    expect(permissionDecisionReason).toMatch(/^Skillcell: .*skill/);
  });

  test.each([
    ['another tool', { tool_name: 'Write', tool_input: { file_path: '/x' } }],
    ['reading', { tool_name: 'Read', tool_input: { file_path: '.claude/skills/pdf/SKILL.md' } }],
    ['another event', { hook_event_name: 'PostToolUse' }],
  ])('says nothing about %s', (_title, more) => {
    expect(answerHook(eventFor(RUNS, more), options)).toEqual({});
  });

  test.each([
    ['is not JSON', '{'],
    ['is not an object', '[]'],
    ['is empty', ''],
    ['has no command', eventFor(undefined)],
    ['has a list as the command', eventFor(['python', 'x'])],
    ['has no input', eventFor('ls', { tool_input: null })],
    ['has no folder', eventFor('ls', { cwd: undefined })],
    ['has a relative folder', eventFor('ls', { cwd: 'x' })],
  ])('blocks input that %s', (_title, input) => {
    expect(answerHook(input, options).refusal).toMatch(
      /^Skillcell could not read the call, so it was blocked: /,
    );
  });

  test('gives no workspace where that would be the home', () => {
    const home = answerHook(
      eventFor('python .claude/skills/mine/scripts/a.py', { cwd: fixture.home }),
      options,
    );
    expect(home.output).toContain(`exec ${fixture.home}/.claude/skills/mine --no-stdin -- python`);
  });

  test('uses the folder of the agent as the workspace after a change into the skill', () => {
    expect(decisionFor('cd .claude/skills/pdf && python scripts/a.py')['updatedInput']).toMatchObject({
      command: `cd .claude/skills/pdf && skillcell exec ${SKILL} --workspace ${fixture.project} --no-stdin -- python scripts/a.py`,
    });
  });

  test('quotes paths with blanks', () => {
    expect(decisionFor('python "vendor/odd name/scripts/a.py"')['updatedInput']).toMatchObject({
      command: expect.stringContaining(`exec '${fixture.project}/vendor/odd name' `) as string,
    });
  });

  test('denies a command with a NUL, and one that is too long, if it mentions a skill', () => {
    const long = 'x'.repeat(MAX_COMMAND);
    expect(judgeCommand(`${RUNS}\0`, fixture.project, options).kind).toBe('deny');
    expect(judgeCommand(`${RUNS} ${long}`, fixture.project, options).kind).toBe('deny');
    expect(judgeCommand(`echo ${long}`, fixture.project, options).kind).toBe('leave');
  });

  test('denies a command that names more files than can be checked while an agent waits', () => {
    const files = Array.from({ length: 22_000 }, (_, at) => `src/${at}`).join(' ');
    const patterns = 'R/*/* '.repeat(3000).replaceAll('R', fixture.root);
    for (const words of [files, patterns]) {
      const verdict = judgeCommand(`ls ${words}`, fixture.project, options);
      expect(verdict).toMatchObject({ kind: 'deny', reason: expect.stringContaining('in time') as string });
    }
  });

  test('asks nothing about files in folders that do not exist', () => {
    const deep = 'x/'.repeat(100);
    const text = Array.from({ length: 1100 }, (_, at) => `none-${at}/${deep}`).join('\n');
    const command = `cat > out.txt <<'END'\n${text}\nEND`;
    expect(judgeCommand(command, fixture.project, options)).toEqual({ kind: 'leave' });
  });

  test('matches a pattern with many stars in time that grows with its length only', () => {
    const names = ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.txt'];
    for (const name of names) writeFileSync(join(fixture.project, name), '');
    const command = `ls ${'a*'.repeat(40)}b; cat .claude/skills/*/SKILL.m?`;
    expect(judgeCommand(command, fixture.project, options)).toEqual({ kind: 'leave' });
  });

  test('denies a command that is nested very deeply, if it mentions a skill', () => {
    const deep = '$('.repeat(5000) + RUNS + ')'.repeat(5000);
    expect(judgeCommand(`echo ${deep}`, fixture.project, options).kind).toBe('deny');
  });

  test('answers every text without an exception', () => {
    const token = fc.constantFrom(
      RUNS,
      '$(',
      ')',
      '"',
      "'",
      '`',
      '${',
      '}',
      '<<E',
      '\n',
      'E',
      ';',
      '|',
      '&',
      '((',
      '[[',
      '\\',
      '$',
      '~',
      '{',
      ' ',
      '#',
      "$'",
      '<(',
      'cd ',
      'a=',
      'for x',
      'do ',
      '\0',
      '\u00a0',
      'é',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(token, fc.string({ maxLength: 5 })), { maxLength: 12 }), (parts) => {
        const { kind } = judgeCommand(parts.join(''), fixture.project, options);
        expect(['leave', 'deny', 'ask', 'rewrite']).toContain(kind);
      }),
      { numRuns: 2000 },
    );
  });
});
