/**
 * Skills in the host process: the same outcomes as in a cell, but no isolation and no pretence of it.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { Failure, Outcome } from '../../../../src/outcome.ts';
import { dedent, openFolder, removeFolder, writeSkill } from '../../../write-skill.ts';
import type { HostJob, HostReport } from './host.ts';

const HOST = fileURLToPath(new URL('host.ts', import.meta.url));
const folder = openFolder();
afterAll(() => removeFolder(folder));

function skill(source: string, { manifest = {}, files = {} } = {}): string {
  return writeSkill(folder, {
    manifest: { execution: ['in_process'], ...manifest },
    files: { 'skill.ts': dedent(source), ...files },
  });
}

interface HostRun extends HostReport {
  stderr: string;
}

function host(calls: HostJob['calls'], more: Partial<HostJob> = {}): HostRun {
  const job: HostJob = { home: join(folder, 'home'), cwd: folder, calls, ...more };
  const ended = spawnSync(process.execPath, [HOST], { input: JSON.stringify(job), encoding: 'utf8' });
  if (ended.status !== 0) expect.fail(ended.stderr);
  return { ...(JSON.parse(ended.stdout) as HostReport), stderr: ended.stderr };
}

function once(dir: string, params: unknown = {}, more: Partial<HostJob['calls'][0]> = {}): Outcome {
  const [outcome] = host([{ dir, params, ...more }]).outcomes;
  if (!outcome) expect.fail('no outcome');
  return outcome;
}

function failure(outcome: Outcome): Failure {
  if (outcome.ok) expect.fail(`It succeeded: ${JSON.stringify(outcome.result)}`);
  return outcome;
}

test('a skill runs in the host process, and the outcome says so', () => {
  const dir = skill('export const execute = () => ({ pid: process.pid });');
  const { outcomes, pid, receipts } = host([{ dir, params: {} }]);
  expect(outcomes[0]).toMatchObject({
    ok: true,
    result: { pid },
    execution: { mode: 'in_process', wall: 'none', engine: 'node', fresh: false },
  });
  const { digest } = outcomes[0]?.skill ?? { digest: '' };
  expect(digest).toMatch(/^sha256:/);
  expect(outcomes[0]?.warnings.join('\n')).toContain(`without isolation`);
  expect(outcomes[0]?.warnings.join('\n')).toContain(`${dir} (${digest})`);
  expect(receipts).toBe(1);
});

test('the verified copy of the bundle runs, not the original', () => {
  const dir = skill('export const execute = () => import.meta.url;');
  const outcome = once(dir);
  expect(outcome.ok && outcome.result).toContain(join(folder, 'home'));
});

test('other files, JSON and skillcell: modules work as in a cell', () => {
  const dir = skill(
    `
      import { double } from './lib/double.js';
      import data from './lib/data.json';
      import { readFile } from 'skillcell:fs';
      import { requireEnv } from 'skillcell:env';
      export const execute = async ({ n }: { n: number }) => [double(n), data.a, await readFile('lib/note.txt', 'utf8'), requireEnv('PATH') !== ''];
    `,
    {
      files: {
        'lib/double.ts': 'export const double = (n: number): number => n * 2;\n',
        'lib/data.json': '{ "a": "ä" }',
        'lib/note.txt': 'a note',
      },
    },
  );
  expect(once(dir, { n: 4 })).toMatchObject({ ok: true, result: [8, 'ä', 'a note', true] });
});

test('modules keep their state between calls', () => {
  const dir = skill('let calls = 0;\nexport const execute = () => ++calls;');
  const { outcomes } = host([
    { dir, params: {} },
    { dir, params: {} },
  ]);
  expect(outcomes.map((one) => one.ok && one.result)).toEqual([1, 2]);
});

test('a skill cannot change the parameters of its caller', () => {
  const dir = skill('export const execute = (params) => { params.deep.n = 2; return params; };');
  const { outcomes, params } = host([{ dir, params: { deep: { n: 1 } } }]);
  expect(outcomes[0]).toMatchObject({ ok: true, result: { deep: { n: 2 } } });
  expect(params).toEqual([{ deep: { n: 1 } }]);
});

test('output goes to the log of its call, even if it is late or calls run concurrently', () => {
  const dir = skill(`
    export const execute = async ({ name }: { name: string }) => {
      console.log('begin', name);
      process.stderr.write(Buffer.from('err ' + name + '\\n'));
      await new Promise((done) => setTimeout(done, 60));
      console.log('end', name);
      setTimeout(() => console.log('afterwards'), 1);
      return name;
    };
  `);
  const calls = ['a', 'b'].map((name) => ({ dir, params: { name } }));
  const { outcomes, stderr, isRestored } = host([...calls], { together: true, lingerMs: 50 });
  expect(outcomes.map(({ logs }) => logs)).toEqual(['begin a\nerr a\nend a\n', 'begin b\nerr b\nend b\n']);
  expect(stderr).toBe('');
  expect(isRestored).toBe(true);
});

describe('failures', () => {
  test.each([
    ['an exception', 'throw new LookupError("x")', 'ReferenceError'],
    ['a text', 'throw "just a text"', 'string'],
    ['an error whose getters throw', 'throw new Proxy({}, { get() { throw 1 } })', 'object'],
  ])('%s is reported as an error of the skill', (_, body, type) => {
    const { error } = failure(once(skill(`export function execute() { ${body} }`)));
    expect(error).toMatchObject({ code: 'skill_error', detail: { type } });
  });

  test.each([
    ['not a number', '[NaN]', 'result[0] is NaN'],
    ['a function', '() => 1', 'the result is of type function'],
    ['a circle', '((a) => (a.push(a), a))([])', 'result[0] contains itself'],
    ['too deep', 'JSON.parse("[".repeat(500) + "]".repeat(500))', 'nested deeper'],
  ])('a result that is not JSON is an error: %s', (_, expression, place) => {
    const { error } = failure(once(skill(`export const execute = () => ${expression};`)));
    expect(error.code).toBe('skill_error');
    expect(error.message).toContain(place);
  });

  test('a module without execute has the same error as in a cell', () => {
    const { error } = failure(once(skill('export const run = 1;')));
    expect(error.message).toContain(
      'exports neither a function "execute" nor a default class or object with a method "execute"',
    );
  });

  test('a result beyond the default output limit is an error', () => {
    const { error } = failure(once(skill('export const execute = () => "x".repeat(2 << 20);')));
    expect(error).toMatchObject({ code: 'resource_exceeded', detail: { limit: 'output' } });
  });

  test('a caller can cancel a running call', () => {
    const dir = skill('export const execute = () => new Promise((done) => setTimeout(done, 20000));');
    expect(once(dir, {}, { abortAfter: 100 })).toMatchObject({
      ok: false,
      error: { code: 'cancelled' },
    });
  });
});

describe('enforce or refuse', () => {
  const source = 'export const execute = () => "ran";';

  test.each([
    ['timeout', { limits: { timeout: '1s' } }],
    ['memory', { limits: { memory: '64MiB' } }],
    ['env', { env_vars: { SOME_NAME: {} } }],
    ['network', { capabilities: { network: [{ host: 'example.com' }] } }],
    ['filesystem', { capabilities: { filesystem: [{ path: '${workspace}/in', access: 'read' }] } }],
    ['syscalls', { capabilities: { syscalls: 'strict' } }],
  ])('a manifest that sets %s is refused', (field, manifest) => {
    const { error } = failure(once(skill(source, { manifest })));
    expect(error).toMatchObject({ code: 'unenforceable', detail: { pair: 'none + node' } });
    expect(error.detail['fields']).toContain(field);
  });

  test.each([
    ['timeout', { timeout: 1000 }],
    ['memory', { memory: 64 << 20 }],
  ])('a call that lowers %s is refused', (field, options) => {
    const { error } = failure(once(skill(source), {}, { options }));
    expect(error).toMatchObject({ code: 'unenforceable', detail: { fields: [field] } });
  });

  test.each([
    ['timeout', 'ceilings: { timeout: 5s }'],
    ['network', 'network: { allow: ["example.com"] }'],
    ['filesystem', 'filesystem: { allow: [] }'],
    ['env', 'env: { allow: [] }'],
  ])('a policy that sets %s is refused', (field, policy) => {
    const [outcome] = host([{ dir: skill(source), params: {} }], { policy }).outcomes;
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'unenforceable', detail: { fields: [field] } },
    });
  });
});
