/**
 * Commands for Skillcell itself: a model may not give permissions without a person, whichever option or variable does it.
 */
import { rmSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { CliCommand, withGrantOptions, withPlanOptions } from '../../src/cli/shared-options.ts';
import { judgeCommand } from '../../src/hook/answer.ts';
import { makeFixture } from './jail.ts';

const fixture = makeFixture();
afterAll(() => rmSync(fixture.root, { recursive: true, force: true }));

function answerTo(command: string): string {
  return judgeCommand(command, fixture.project, { home: fixture.home, env: {}, program: 'skillcell' }).kind;
}

/** They only take away, or change what is printed. `--workspace` is judged by its value. */
const TAKING = new Set(['--isolated', '--timeout', '--memory', '--workspace']);
const { options } = withGrantOptions(withPlanOptions(new CliCommand(() => undefined)));
const names = options.map(({ long }) => long ?? '');

describe('an option of a call', () => {
  test.each(names.filter((name) => !TAKING.has(name)))('%s is for a person', (name) => {
    expect(answerTo(`skillcell exec x ${name} y -- python a.py`)).toBe('ask');
    expect(answerTo(`npx skillcell run x ${name}=y`)).toBe('ask');
  });

  test.each(names.filter((name) => TAKING.has(name)))('%s gives nothing', (name) => {
    expect(answerTo(`skillcell exec x ${name} . -- python a.py`)).toBe('leave');
  });

  test('--workspace with another folder is for a person, --no-stdin is not', () => {
    expect(answerTo('skillcell exec x --workspace / -- python a.py')).toBe('ask');
    expect(answerTo('skillcell exec x --no-stdin -- python a.py')).toBe('leave');
  });
});

test.each(['approve x --yes', 'record x --write -- y', 'install x --yes', 'policy trust x', 'lock x'])(
  'skillcell %s is for a person',
  (words) => {
    expect(answerTo(`skillcell ${words}`)).toBe('ask');
  },
);

test.each([
  'SKILLCELL_TRUST_REMOTE_CODE=1 skillcell run x',
  'export SKILLCELL_HOME=/tmp/x; skillcell run x',
  'env SKILLCELL_HOME=/tmp/x skillcell run x',
  'NODE_OPTIONS=--require=/tmp/x.js skillcell run x',
])('%s: a variable that changes Skillcell is for a person', (command) => {
  expect(answerTo(command)).toBe('ask');
});
