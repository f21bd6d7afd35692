/**
 * A skill that may write to the workspace cannot change a policy, a registry, or a folder on the path to them: neither in a
 * jail, where the kernel enforces it, nor in Wasm, where the broker does.
 *
 * @module
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createRuntime, parsePolicy, type Outcome } from '../../src/index.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { makeControlPlaces } from '../control-places.ts';
import { writeSkill } from '../write-skill.ts';

const POLICY = 'skillcell.policy.yaml';
const { runtime, folder, close } = openTestRuntime({ pool: { size: 0 } });
afterAll(close);

/** Performs one act and returns its result. */
const SOURCE = `
import os

def execute(params):
    act, path, to = params["act"], params["path"], params.get("to")
    try:
        if act == "write":
            with open(path, "w") as file:
                file.write("{}")
        elif act == "remove":
            os.remove(path)
        elif act == "rename":
            os.rename(path, to)
        elif act == "mkdir":
            os.mkdir(path)
        elif act == "link":
            os.link(path, to)
    except (OSError, AttributeError):
        return "refused"
    return "done"
`;

let outer: string;
let project: string;
let rooms = 0;

/** A project inside the workspace, writable for every user. */
beforeEach(() => {
  outer = join(folder, `room-${++rooms}`);
  project = join(outer, 'work', 'project');
  mkdirSync(join(project, 'skills', 'text', 'mine'), { recursive: true });
  mkdirSync(join(project, 'out'));
  for (const at of [outer, join(outer, 'work'), project]) makeControlPlaces(at);
  for (const at of [outer, join(outer, 'work'), project])
    writeFileSync(join(at, POLICY), 'env: { allow: [] }\n');
  writeFileSync(join(project, 'skills', 'text', 'mine', 'manifest.yaml'), 'name: text/mine\n');
  openAll(outer);
});

function openAll(at: string): void {
  chmodSync(at, 0o777);
  for (const entry of readdirSync(at, { withFileTypes: true })) {
    const path = join(at, entry.name);
    if (entry.isDirectory()) openAll(path);
    else if (entry.isFile()) chmodSync(path, 0o666);
  }
}

async function call(
  mode: string,
  params: object,
  over: { workspace?: string; path?: string } = {},
): Promise<Outcome> {
  const limit = mode === 'wasm' ? { max_bytes: '1MiB' } : {};
  const path = over.path ?? '${workspace}';
  const skill = writeSkill(folder, {
    manifest: {
      execution: [mode],
      capabilities: { filesystem: [{ path, access: 'read-write', ...limit }] },
    },
    source: SOURCE,
  });
  const policy = parsePolicy('env: { allow: [] }', { file: join(project, POLICY) });
  const { home } = runtime;
  await using own = createRuntime({ home, cwd: project, policy, pool: { size: 0 }, audit: false });
  return await own.execute(skill, params, { workspace: over.workspace ?? outer, reject: false });
}

const IN = '/workspace/work/project';
const ACTS: [string, object][] = [
  ['write the policy in force', { act: 'write', path: `${IN}/${POLICY}` }],
  ['write a policy above it', { act: 'write', path: `/workspace/${POLICY}` }],
  ['write a policy between them', { act: 'write', path: `/workspace/work/${POLICY}` }],
  ['remove the policy', { act: 'remove', path: `${IN}/${POLICY}` }],
  ['move the policy away', { act: 'rename', path: `${IN}/${POLICY}`, to: `${IN}/out/old` }],
  [
    'put another file in the place of the policy',
    { act: 'rename', path: `${IN}/out/mine`, to: `${IN}/${POLICY}` },
  ],
  ['move the project away', { act: 'rename', path: IN, to: '/workspace/work/old' }],
  ['move a folder above the project away', { act: 'rename', path: '/workspace/work', to: '/workspace/old' }],
  ['write a skill of the project', { act: 'write', path: `${IN}/skills/text/mine/manifest.yaml` }],
  ['add a skill to the project', { act: 'mkdir', path: `${IN}/skills/text/planted` }],
  ['move the registry away', { act: 'rename', path: `${IN}/skills`, to: `${IN}/old` }],
  ['write an overlay', { act: 'write', path: `${IN}/.skillcell/planted.yaml` }],
  ['make the folder of overlays', { act: 'mkdir', path: `${IN}/.skillcell/skills` }],
  ['move the overlays away', { act: 'rename', path: `${IN}/.skillcell`, to: `${IN}/old` }],
  ['add a skill of an agent', { act: 'mkdir', path: `${IN}/.claude/skills/planted` }],
  ['move the folder of an agent away', { act: 'rename', path: `${IN}/.claude`, to: `${IN}/old` }],
  ['pin a skill', { act: 'write', path: `${IN}/skills.lock.json` }],
  ['list a plugin', { act: 'write', path: `${IN}/.claude-plugin/marketplace.json` }],
  ['get another name for the policy', { act: 'link', path: `${IN}/${POLICY}`, to: `${IN}/out/alias` }],
];

describe.each(['subprocess', 'wasm'])('in %s, a skill with a writable workspace', (mode) => {
  it.each(ACTS)('cannot %s', async (_, params) => {
    writeFileSync(join(project, 'out', 'mine'), '{}');
    const outcome = await call(mode, params);
    expect(outcome.ok ? outcome.result : outcome.error.code).toMatch(/^(refused|capability_denied)$/);
    for (const at of [outer, join(outer, 'work'), project])
      expect(readFileSync(join(at, POLICY), 'utf8')).toContain('allow');
    expect(readdirSync(join(project, 'skills', 'text'))).toEqual(['mine']);
    expect(existsSync(join(project, 'out', 'alias'))).toBe(false);
    expect(readFileSync(join(project, 'skills.lock.json'), 'utf8')).toBe('');
    for (const at of ['.skillcell', '.claude/skills', '.claude-plugin'])
      expect(readdirSync(join(project, at))).toEqual([]);
  });

  it('can write beside them', async () => {
    const outcome = await call(mode, { act: 'write', path: `${IN}/out/result` });
    expect(outcome, JSON.stringify(outcome)).toMatchObject({ ok: true, result: 'done' });
    expect(readFileSync(join(project, 'out', 'result'), 'utf8')).toBe('{}');
  });

  it.each([
    ['a policy', () => join(project, POLICY)],
    ['a registry', () => join(project, 'skills')],
    ['overlays', () => join(project, '.skillcell')],
    ['pins of skills', () => join(project, 'skills.lock.json')],
    ['skills of an agent', () => join(project, '.claude', 'skills')],
    ['skills of an agent above it', () => join(outer, 'work', '.agents')],
    ['a list of plugins', () => join(project, '.claude-plugin')],
  ])('gets no grant if it could be the first to create %s', async (_, missing) => {
    rmSync(missing(), { recursive: true });
    const outcome = await call(mode, { act: 'write', path: `${IN}/out/result` });
    expect(JSON.stringify(outcome)).toContain('the skill could put its own there');
    expect(existsSync(join(project, 'out', 'result'))).toBe(false);
    expect(existsSync(missing())).toBe(false);
  });

  it('gets no grant if a registry is a link that it could replace', async () => {
    rmSync(join(project, 'skills'), { recursive: true });
    symlinkSync('out', join(project, 'skills'));
    const outcome = await call(mode, { act: 'write', path: `${IN}/out/result` });
    expect(JSON.stringify(outcome)).toContain('symbolic link');
    expect(existsSync(join(project, 'out', 'result'))).toBe(false);
  });

  it('gets no grant for the registry itself', async () => {
    const path = '${workspace}/skills';
    const outcome = await call(
      mode,
      { act: 'mkdir', path: '/workspace/skills/planted' },
      { workspace: project, path },
    );
    expect(JSON.stringify(outcome)).toContain('controls what skills may do');
    expect(readdirSync(join(project, 'skills'))).toEqual(['text']);
  });
});
