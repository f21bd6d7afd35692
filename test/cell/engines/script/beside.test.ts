/**
 * The harness beside a program that it started: what the program does must not end it, nor its way to the gateway.
 *
 * @module
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { CommandResult, Outcome } from '../../../../src/index.ts';
import { writeAgentSkill } from '../../../write-agent-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const open = openTestRuntime({ pool: { size: 0 } });
afterAll(() => open.close());

const skill = writeAgentSkill(open.folder, {
  files: {
    // The proxy of every program; each connection ends before anything was sent.
    'scripts/probe.sh': String.raw`
      for i in 1 2 3 4 5 6 7 8 9 10; do (exec 8<>/dev/tcp/127.0.0.1/3128); done
      exec 8<>/dev/tcp/127.0.0.1/3128
      printf 'GET http://unlisted.test/after HTTP/1.1\r\nHost: unlisted.test\r\n\r\n' >&8
      read -t 20 -r answer <&8 && echo "$answer"
    `,
    'scripts/interrupt.sh': 'kill -INT 1; sleep 0.2; echo after; exit 7\n',
  },
});
const exec = (script: string): Promise<Outcome> =>
  open.runtime.exec(skill, ['bash', `scripts/${script}`], { reject: false });

describe('The harness beside a program', () => {
  test('still forwards requests after connections that ended at once, so that their denials are seen', async () => {
    const { capabilities, ...outcome } = await exec('probe.sh');
    expect(outcome).toMatchObject({ ok: true, result: { exit_code: 0, stderr: '' } });
    expect(capabilities.denied).toMatchObject([{ asked: 'GET http://unlisted.test/after' }]);
  });

  test('is not ended by an interrupt, which would speak for the program', async () => {
    const { result } = (await exec('interrupt.sh')) as { result?: CommandResult };
    expect(result).toMatchObject({ exit_code: 7, stdout: 'after\n', stderr: '' });
  });
});
