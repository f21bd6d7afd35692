/**
 * Programs that a skill starts reach nothing without a grant, and the outcome and the receipt list their attempts.
 *
 * @module
 */
import { afterAll, expect, test } from 'vitest';
import { writeSkill } from '../../../write-skill.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const open = openTestRuntime({ pool: { size: 0 } });
afterAll(() => open.close());

const SCRIPT =
  'import urllib.request\\ntry: urllib.request.urlopen("http://unlisted.test/from-a-child")\\nexcept Exception as e: print(e)';

const PYTHON = `
import subprocess, sys
def execute(params):
    done = subprocess.run([sys.executable, "-c", "${SCRIPT.replaceAll('"', '\\"')}"], capture_output=True, text=True)
    return {"said": done.stdout + done.stderr}
`;

const JAVASCRIPT = `
import { spawn } from 'node:child_process';
export function execute() {
  return new Promise((resolve) => {
    const child = spawn('/usr/bin/python3', ['-c', ${JSON.stringify(SCRIPT.replaceAll('\\n', '\n'))}]);
    let said = '';
    child.stdout.on('data', (text) => (said += text));
    child.on('close', () => resolve({ said }));
  });
}
`;

test.each([
  ['Python', { source: PYTHON }],
  ['Node', { files: { 'skill.js': JAVASCRIPT }, entry: 'skill.js' }],
])(
  'a program started by a skill in %s is denied, and seen',
  async (_, { entry, ...rest }: { entry?: string; source?: string; files?: Record<string, string> }) => {
    const dir = writeSkill(open.folder, {
      ...rest,
      manifest: { entry, execution: ['subprocess'], limits: { processes: 4, memory: '512MiB' } },
    });
    const outcome = await open.runtime.execute(dir, {}, { reject: false });
    expect(outcome).toMatchObject({ ok: true, result: { said: expect.stringContaining('403') } });
    expect(outcome.capabilities.denied).toContainEqual(
      expect.objectContaining({
        capability: 'network',
        asked: expect.stringContaining('http://unlisted.test/from-a-child'),
      }),
    );
  },
);

test('a cell that may not start programs has no gateway and no proxy variables', async () => {
  const source =
    'import os\ndef execute(params):\n    return {"found": os.path.exists("/run/gateway"), "env": sorted(os.environ)}';
  const dir = writeSkill(open.folder, { source, manifest: { execution: ['subprocess'] } });
  const outcome = await open.runtime.execute(dir, {}, { reject: false });
  const env = ['HOME', 'LANG', 'PATH', 'PWD', 'TMPDIR'];
  expect(outcome).toMatchObject({ ok: true, result: { found: false, env } });
});
