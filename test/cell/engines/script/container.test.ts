/**
 * Commands in a container: the programs of an image instead of those of this machine, with the result, the denials and the
 * limits of a jail.
 *
 * @module
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildBase } from '../../../../src/build/container/base-image.ts';
import type { CommandResult, ExecOptions, Outcome } from '../../../../src/index.ts';
import { writeAgentSkill } from '../../../write-agent-skill.ts';
import { seedImages } from '../../images/base-image.ts';
import { openTestRuntime } from '../../test-runtime.ts';

const NAME = 'test-dc';
/** Generous: it only ends a build that hangs. */
const BUILD_MS = 600_000;
const open = openTestRuntime({ pool: { size: 0 } });
const home = join(open.folder, 'home');
afterAll(() => open.close());
beforeAll(async () => {
  await seedImages(home);
  // A calculator that Debian does not install by itself.
  await buildBase('python', { home: home, packages: ['dc'], name: NAME });
}, BUILD_MS);

const IMAGE = `container: { image: "localhost/skillcell-${NAME}:latest" }\n`;
const FILES = {
  'scripts/sum.sh': `
    echo "$1 2 + p" | dc
    echo problem >&2
    exit 3
  `,
  'scripts/sum.py': `
    import subprocess, sys
    print(subprocess.run(["dc"], input=sys.stdin.read(), capture_output=True, text=True).stdout)
    open("made.txt", "w").write("made")
  `,
  'scripts/secret.py': 'open("/etc/shadow").read()\n',
  'scripts/fetch.py': 'import urllib.request\nurllib.request.urlopen("http://tables.example/")\n',
  'scripts/x.mjs': 'console.log(1);\n',
};
const skill = writeAgentSkill(open.folder, {
  files: { ...FILES, 'skillcell.yaml': `${IMAGE}limits: { processes: 8 }\n` },
});
const plain = writeAgentSkill(open.folder, { files: FILES });

function call(command: string[], options: ExecOptions = {}, dir = skill): Promise<Outcome> {
  return open.runtime.exec(dir, command, { ...options, reject: false });
}

async function run(command: string[], options: ExecOptions = {}, dir = skill): Promise<CommandResult> {
  const outcome = await call(command, options, dir);
  if (!outcome.ok) throw new Error(JSON.stringify([outcome.error, outcome.logs]));
  expect(outcome.execution).toMatchObject({ mode: 'container', engine: 'script', wall: 'container' });
  return outcome.result as CommandResult;
}

test('a shell script finds the programs of the image, and its result is that of a jail', async () => {
  expect(await run(['sh', 'scripts/sum.sh', '40'])).toEqual({
    ...{ exit_code: 3, stdout: '42\n', stderr: 'problem\n', files: [] },
  });
});

test('a Python script starts programs of the image and writes into the workspace', async () => {
  const workspace = mkdtempSync(join(open.folder, 'workspace-'));
  chmodSync(workspace, 0o777);
  const options = { workspace, stdin: '6 7 * p\n', grants: { write: ['.'] } };
  const result = await run(['python', 'scripts/sum.py'], options);
  expect(result).toMatchObject({ exit_code: 0, stdout: '42\n\n', files: [{ path: '/workspace/made.txt' }] });
  expect(readFileSync(join(workspace, 'made.txt'), 'utf8')).toBe('made');
});

test('a granted program is that of the image, and one that it lacks is an error with the fix', async () => {
  const options = { stdin: '2 10 ^ p\n', grants: { programs: ['dc'] } };
  expect(await run(['dc'], options)).toMatchObject({ exit_code: 0, stdout: '1024\n' });
  expect(await call(['dc'])).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
  const absent = await call(['bc'], { grants: { programs: ['bc'] } });
  expect(absent).toMatchObject({ ok: false, error: { code: 'skill_unavailable' } });
  expect(absent.ok || absent.error.fix).toContain('skillcell build --base python --with PACKAGE');
});

test('denials are those of a jail', async () => {
  for (const script of ['secret', 'fetch']) {
    const command = ['python', `scripts/${script}.py`];
    const [inContainer, inJail] = [await call(command), await call(command, { execution: 'subprocess' })];
    expect(inContainer.execution?.mode).toBe('container');
    expect(inJail.execution?.mode).toBe('subprocess');
    expect(inContainer.capabilities.denied).toEqual(inJail.capabilities.denied);
    expect(inContainer.capabilities.denied).toHaveLength(1);
  }
});

test('Node scripts, and folders without an image, are refused there', async () => {
  const node = await call(['node', 'scripts/x.mjs'], { execution: 'container' });
  expect(node.ok || node.error.message).toContain('Node scripts run in subprocess only');
  const outcome = await call(['sh', 'scripts/sum.sh', '1'], { execution: 'container' }, plain);
  expect(outcome.ok || outcome.error.message).toContain('names no image');
});

test('an overlay gives an image to a folder that names none', async () => {
  const { bundle } = await open.runtime.load(plain);
  const folder = join(home, 'skills');
  mkdirSync(folder, { recursive: true });
  const name = bundle.manifest.name.split('/').at(-1);
  const text = `skill: ${name}\ndigest: ${bundle.digest}\n${IMAGE}limits: { processes: 8 }\n`;
  writeFileSync(join(folder, `${name}.yaml`), text);
  expect(await run(['sh', 'scripts/sum.sh', '1'], {}, plain)).toMatchObject({ stdout: '3\n' });
});
