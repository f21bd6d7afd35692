/**
 * A skill that may write to the workspace cannot change its own manifest or the program that fetches secrets, and no grant
 * lets a skill read the secret files of the policy.
 *
 * @module
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createRuntime, parsePolicy, type Outcome } from '../../src/index.ts';
import { secretPrograms } from '../../src/policy/secret-places.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { makeControlPlaces } from '../control-places.ts';
import { writeSkill } from '../write-skill.ts';

const { runtime, folder, close } = openTestRuntime({ pool: { size: 0 } });
afterAll(close);

const SOURCE = `
import os

def execute(params):
    try:
        if params.get("to"):
            os.rename(params["path"], params["to"])
        else:
            with open(params["path"], params.get("mode", "w")) as file:
                return file.read() if params.get("mode") else file.write("#!/bin/sh")
    except OSError:
        return "refused"
    return "done"
`;

let project: string;
let rooms = 0;

beforeEach(() => {
  project = join(folder, `room-${++rooms}`);
  for (const path of ['skills', 'bin', 'out', 'path']) mkdirSync(join(project, path), { recursive: true });
  for (const file of ['bin/get-key', 'bin/get.py', 'path/get-it', 'real-policy.yaml', '.env'])
    writeFileSync(join(project, file), 'KEY=invented-0123456789\n', { mode: 0o777 });
  makeControlPlaces(project);
  openAll(project);
});

function openAll(at: string): void {
  chmodSync(at, 0o777);
  for (const entry of readdirSync(at, { withFileTypes: true })) {
    if (entry.isDirectory()) openAll(join(at, entry.name));
    else if (entry.isFile()) chmodSync(join(at, entry.name), 0o666);
  }
}

interface Asked {
  mode?: string;
  policy?: string;
  /** Folder of the policy; absent: the project. */
  file?: string;
  access?: string;
  workspace?: string;
}

async function call(
  params: object,
  { mode = 'subprocess', access = 'read-write', ...asked }: Asked = {},
): Promise<Outcome> {
  const limit = mode === 'wasm' && access === 'read-write' ? { max_bytes: '1MiB' } : {};
  const skill = writeSkill(join(project, 'vendor'), {
    id: 'text/mine',
    manifest: {
      execution: [mode],
      capabilities: { filesystem: [{ path: '${workspace}', access, ...limit }] },
    },
    source: SOURCE,
  });
  openAll(project);
  const file = asked.file ?? join(project, 'skillcell.policy.yaml');
  const policy = parsePolicy(asked.policy ?? '{}', { file });
  const { home } = runtime;
  await using own = createRuntime({ home, cwd: project, policy, pool: { size: 0 }, audit: false });
  return await own.execute(skill, params, { workspace: asked.workspace ?? project, reject: false });
}

const said = (outcome: Outcome): unknown => (outcome.ok ? outcome.result : outcome.error.code);
const OWN = '/workspace/vendor/skills/text/mine';
describe.each(['subprocess', 'wasm'])(
  'in %s, a skill with a writable workspace around its own folder',
  (mode) => {
    it.each([
      ['write its manifest', { path: `${OWN}/manifest.yaml` }],
      ['write its code', { path: `${OWN}/skill.py` }],
      ['add a file', { path: `${OWN}/skill.lock` }],
      ['move its folder away', { path: OWN, to: '/workspace/out/old' }],
      ['move a folder above it away', { path: '/workspace/vendor', to: '/workspace/out/old' }],
    ])('cannot %s', async (_, params) => {
      const outcome = await call(params, { mode });
      expect(said(outcome)).toMatch(/^(refused|capability_denied)$/);
      const own = join(project, 'vendor/skills/text/mine');
      expect(readdirSync(own).toSorted()).toEqual(['manifest.yaml', 'skill.py']);
      expect(readFileSync(join(own, 'manifest.yaml'), 'utf8')).toContain('text/mine');
    });

    it('can write beside it', async () => {
      expect((await call({ path: '/workspace/out/result' }, { mode })).ok).toBe(true);
      expect(existsSync(join(project, 'out/result'))).toBe(true);
    });
  },
);

describe('a skill with a writable workspace', () => {
  it('gets no grant for its own folder, and no message suggests a policy there', async () => {
    const workspace = join(project, 'vendor/skills/text/mine');
    const outcome = await call({ path: '/workspace/manifest.yaml' }, { workspace });
    expect(said(outcome)).toBe('refused');
    expect(outcome.warnings.join()).toContain('which controls what skills may do');
    expect(outcome.warnings.join()).not.toContain('could put its own there');
  });

  it.each([
    ['a program', 'bin/get-key', (at: string) => [`${at}/bin/get-key`, '{name}']],
    ['a script among the arguments', 'bin/get.py', (at: string) => ['/usr/bin/python3', `${at}/bin/get.py`]],
    ['a file after "="', 'bin/get.py', (at: string) => ['/usr/bin/python3', `--run=${at}/bin/get.py`]],
  ])('cannot change %s that fetches secrets', async (_, file, command) => {
    const policy = JSON.stringify({ secrets: [{ command: command(project) }] });
    const outcome = await call({ path: `/workspace/${file}` }, { policy });
    expect(said(outcome)).toMatch(/^(refused|capability_denied)$/);
    expect(readFileSync(join(project, file), 'utf8')).toContain('invented');
  });

  it('cannot change a program behind a link elsewhere', async () => {
    const link = join(folder, `link-${rooms}`);
    symlinkSync(join(project, 'bin/get-key'), link);
    const outcome = await call(
      { path: '/workspace/bin/get-key' },
      { policy: JSON.stringify({ secrets: [{ command: [link] }] }) },
    );
    expect(said(outcome)).toMatch(/^(refused|capability_denied)$/);
  });

  it('cannot change the policy behind a link elsewhere', async () => {
    const file = join(folder, `policy-${rooms}.yaml`);
    symlinkSync(join(project, 'real-policy.yaml'), file);
    const outcome = await call({ path: '/workspace/real-policy.yaml' }, { file });
    expect(said(outcome)).toMatch(/^(refused|capability_denied)$/);
  });

  it.each(['read', 'read-write'])('gets no %s grant that reveals a file of secrets', async (access) => {
    const policy = JSON.stringify({ secrets: [{ file: join(project, '.env') }] });
    const outcome = await call({ path: '/workspace/.env', mode: 'r' }, { access, policy });
    expect(outcome.warnings.join()).toContain('to the skill, which the policy uses for secrets');
    expect(JSON.stringify(outcome)).not.toContain('invented-0123456789');
    const beside = await call({ path: '/workspace/x' }, { policy, workspace: join(project, 'out') });
    expect(beside.ok).toBe(true);
  });
});

it('a program without a folder is searched for in PATH like the system does', () => {
  const at = (...paths: string[]): string => paths.map((path) => join(project, path)).join(':');
  const policy = parsePolicy('secrets: [{ command: [get-it, "{name}"] }]', { file: '/policy' });
  expect(secretPrograms(policy, at('none', 'path', 'bin'))).toEqual({
    files: [],
    folders: [join(project, 'none'), join(project, 'path')],
  });
  expect(secretPrograms(policy, `:${at('path')}`).folders).toEqual(['.', join(project, 'path')]);
});
