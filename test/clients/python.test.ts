/**
 * The Python client against a real service and a real local runtime. Its tests are in `clients/python/tests`; here they get
 * their skills and their service.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageVersion } from '../../src/inside.ts';
import { toolName } from '../../src/tools/names.ts';
import { ERROR_CODES } from '../../src/vocabulary/error-codes.ts';
import { ROOT } from '../cli/command.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';

const PYTHON = '/usr/bin/python3';
const CLIENT = join(ROOT, 'clients/python');
const BIN = join(ROOT, 'bin/skillcell.js');

const NAMES = [
  'text/word_stats',
  'a/b',
  '3d/model',
  'a__b/c___d',
  'a-b/c_-_d',
  `${'long'.repeat(12)}/${'name'.repeat(12)}`,
  `9${'long'.repeat(12)}/${'n_'.repeat(20)}e`,
];

const folder = openFolder();
const home = join(folder, 'home');
let service: ChildProcess;
let stage: Record<string, unknown>;

function writeSkills(): void {
  const add = (id: string, source: string, manifest: Record<string, unknown> = {}): string =>
    writeSkill(folder, { id, source, manifest: { execution: ['subprocess'], ...manifest } });
  add('test/echo', 'def execute(params):\n    print("echoing")\n    return {"said": params["text"]}\n', {
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  });
  add('test/gives', 'def execute(params):\n    return params["value"]\n');
  add('test/fails', 'def execute(params):\n    raise ValueError("no such order")\n');
  add('test/peeks', 'def execute(params):\n    return open("/etc/passwd").read()\n');
  add(
    'test/slow',
    'import subprocess\ndef execute(params):\n    subprocess.run(["sleep", params["seconds"]])\n',
    { limits: { timeout: '90s', processes: 4 } },
  );
}

/** The token of a service without a terminal is in a file that it names. */
async function serve(): Promise<{ url: string; token: string }> {
  const env = { ...process.env, SKILLCELL_HOME: home };
  service = spawn(process.execPath, [BIN, 'serve', '--port', '0'], { cwd: folder, env });
  const url = Promise.withResolvers<string>();
  const token = Promise.withResolvers<string>();
  for (const stream of [service.stdout, service.stderr]) {
    if (!stream) throw new Error('The service has no output');
    createInterface({ input: stream }).on('line', (line) => {
      const [, listening] = /^Listening on (\S+)$/.exec(line) ?? [];
      const [, file] = /(\/\S*console-token\.\d+)/.exec(line) ?? [];
      if (listening !== undefined) url.resolve(listening);
      if (file !== undefined) token.resolve(readFileSync(file, 'utf8').trim());
    });
  }
  service.on('exit', (code) => url.reject(new Error(`The service ended with code ${code}`)));
  return { url: await url.promise, token: await token.promise };
}

beforeAll(async () => {
  writeSkills();
  stage = {
    ...(await serve()),
    project: folder,
    codes: ERROR_CODES,
    version: packageVersion(),
    names: Object.fromEntries(NAMES.map((name) => [name, toolName(name)])),
  };
});

afterAll(async () => {
  const ended = once(service, 'exit');
  service.kill();
  await ended;
  removeFolder(folder);
});

test.each(['vocabulary', 'client', 'local'])('the Python tests of %s pass', async (part) => {
  const child = spawn(PYTHON, ['-W', 'error::ResourceWarning', join(CLIENT, `tests/test_${part}.py`)], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      SKILLCELL_HOME: home,
      SKILLCELL_COMMAND: `'${process.execPath}' '${BIN}'`,
      SKILLCELL_TEST_STAGE: JSON.stringify(stage),
      PYTHONPATH: `${join(CLIENT, 'src')}:${join(CLIENT, 'tests')}`,
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let report = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (report += text));
  const [code] = (await once(child, 'close')) as [number | null];
  expect(report).toMatch(/^Ran [1-9]\d* tests? in /m);
  expect(code, report).toBe(0);
});

test('the client has one version, which is that of the package', () => {
  const project = readFileSync(join(CLIENT, 'pyproject.toml'), 'utf8');
  expect(/^version = "(.*)"$/m.exec(project)?.[1]).toBe(packageVersion());
  expect(project).toContain('dependencies = []');
});

test('the client is valid Python for every version that it claims', () => {
  const check =
    'import ast, pathlib, sys\n' +
    'for file in pathlib.Path(sys.argv[1]).rglob("*.py"): ast.parse(file.read_text(), feature_version=(3, 9))\n';
  const { status, stderr } = spawnSync(PYTHON, ['-c', check, join(CLIENT, 'src')], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
});
