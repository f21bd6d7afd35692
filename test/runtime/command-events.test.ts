/**
 * Events of commands whose secrets have to be removed first.
 */
import { afterAll, expect, test } from 'vitest';
import { createRuntime, type CallEvent } from '../../src/index.ts';
import { writeAgentSkill } from '../write-agent-skill.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { join } from 'node:path';

const folder = openFolder();
afterAll(() => removeFolder(folder));
const VALUE = 'invented-key-0123456789';

test('the output of a command with secrets comes at its end, by stream and without them', async () => {
  const skill = writeAgentSkill(folder, {
    files: { 'scripts/a.py': `import sys\nprint("out ${VALUE}")\nprint("err", file=sys.stderr)\n` },
    manifest: {
      env_vars: { API_KEY: { required: true, secret: true, hosts: ['127.0.0.1'] } },
      capabilities: { network: [{ host: '127.0.0.1', port: 9, scheme: 'http' }] },
    },
  });
  await using runtime = createRuntime({
    home: join(folder, 'home'),
    cwd: folder,
    pool: { size: 0 },
    env: { API_KEY: VALUE },
    allowEnv: ['API_KEY'],
  });
  const events: CallEvent[] = [];
  const outcome = await runtime.exec(skill, ['python', 'scripts/a.py'], {
    onEvent: (event) => events.push(event),
  });
  expect(outcome.result.exit_code).toBe(0);
  const logs = events.flatMap((event) => (event.type === 'log' ? [[event.stream, event.text]] : []));
  expect(logs).toEqual([
    ['stdout', outcome.result.stdout],
    ['stderr', 'err\n'],
  ]);
  expect(JSON.stringify(events)).not.toContain(VALUE);
});
