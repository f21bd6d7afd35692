/**
 * A skill sees the granted folders of the caller, and nothing behind a link.
 *
 * @module
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { CellParts } from '../../src/cell/contract.ts';
import { Machine } from '../../src/cell/machine.ts';
import { Session } from '../../src/cell/protocol/session.ts';
import { Offload } from '../../src/offload/offload.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';

const SECRET = 'content of a file outside of the workspace';
const SOURCE = `
  import os
  def execute(params):
      if "write" in params:
          with open(params["write"], "w") as file:
              file.write("written by the skill")
      if "read" in params:
          with open(params["read"]) as file:
              return file.read()
      if "list" in params:
          return sorted(os.listdir(params["list"]))
`;

const { runtime, folder, close } = openTestRuntime({ pool: { size: 0 } });
const offload = new Offload();
const machine = new Machine({ home: runtime.home, offload });
afterAll(async () => {
  await machine.close();
  await offload.close();
  await close();
});

let workspace: string;
let outside: string;
let rooms = 0;

beforeEach(() => {
  const room = join(folder, `room-${++rooms}`);
  workspace = join(room, 'workspace');
  outside = join(room, 'outside');
  for (const path of ['in', 'out']) mkdirSync(join(workspace, path), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(workspace, 'in/a.txt'), 'ä from the host');
  writeFileSync(join(workspace, 'private.txt'), 'not granted');
  writeFileSync(join(outside, 'a.txt'), SECRET);
  // If the host runs as root, its cells do not, so their folders must be writable for them.
  chmodSync(join(workspace, 'out'), 0o777);
});

function skillWith(...filesystem: { path: string; access: string }[]): string {
  return writeSkill(folder, { manifest: { capabilities: { filesystem } }, source: SOURCE });
}

const IN = { path: '${workspace}/in', access: 'read' };
const OUT = { path: '${workspace}/out', access: 'read-write' };

describe('a granted folder', () => {
  test('can be read at the path in the manifest', async () => {
    const skill = skillWith(IN);
    const outcome = await runtime.execute(skill, { read: '/workspace/in/a.txt' }, { workspace });
    expect(outcome).toMatchObject({ ok: true, result: 'ä from the host', capabilities: { denied: [] } });
  });

  test('with read access cannot be written to', async () => {
    const options = { workspace, reject: false };
    const outcome = await runtime.execute(skillWith(IN), { write: '/workspace/in/b.txt' }, options);
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'capability_denied', detail: { capability: 'filesystem' } },
    });
    expect(existsSync(join(workspace, 'in/b.txt'))).toBe(false);
  });

  test('with write access is the real one', async () => {
    const skill = skillWith(IN, OUT);
    const params = { write: '/workspace/out/new.txt', read: '/workspace/in/a.txt' };
    expect(await runtime.execute(skill, params, { workspace })).toMatchObject({ result: 'ä from the host' });
    expect(readFileSync(join(workspace, 'out/new.txt'), 'utf8')).toBe('written by the skill');
  });

  test('shows none of its neighbours', async () => {
    const skill = skillWith(IN);
    const list = await runtime.execute(skill, { list: '/workspace' }, { workspace, reject: false });
    expect(JSON.stringify(list)).not.toContain('private.txt');
    const read = await runtime.execute(
      skill,
      { read: '/workspace/private.txt' },
      { workspace, reject: false },
    );
    expect(read).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
  });

  test('that does not exist is reported before anything runs', async () => {
    const skill = skillWith({ path: '${workspace}/missing', access: 'read' });
    const outcome = await runtime.execute(skill, {}, { workspace, reject: false });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'usage' } });
    expect(outcome.execution).toBeUndefined();
  });
});

describe('without a workspace', () => {
  test('a workspace path is withheld with a warning, and a denial says why', async () => {
    const skill = skillWith(IN);
    const fine = await runtime.execute(skill, {});
    expect(fine.warnings.join('\n')).toContain('Declared but not granted: read ${workspace}/in');
    const denied = await runtime.execute(skill, { read: '/workspace/in/a.txt' }, { reject: false });
    expect(denied).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
    expect(denied.ok || denied.error.fix).toContain('--workspace');
  });
});

describe('a link that leads out of the workspace', () => {
  test('is withheld if it is the granted path itself', async () => {
    symlinkSync(outside, join(workspace, 'linked'));
    const skill = skillWith({ path: '${workspace}/linked', access: 'read' });
    const options = { workspace, reject: false };
    const outcome = await runtime.execute(skill, { read: '/workspace/linked/a.txt' }, options);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
    expect(outcome.warnings.join('\n')).toContain('leads out of the workspace');
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  });

  test('leads nowhere if it lies inside the granted folder', async () => {
    symlinkSync(join(outside, 'a.txt'), join(workspace, 'in/link.txt'));
    const options = { workspace, reject: false };
    const outcome = await runtime.execute(skillWith(IN), { read: '/workspace/in/link.txt' }, options);
    expect(outcome.ok).toBe(false);
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  });
});

describe('a granted folder that is replaced by a link', () => {
  const replace = (): void => {
    renameSync(join(workspace, 'in'), join(workspace, 'aside'));
    symlinkSync(outside, join(workspace, 'in'));
  };
  const params = { read: '/workspace/in/a.txt' };

  test('between two calls is withheld', async () => {
    const skill = await runtime.load(skillWith(IN));
    expect(await runtime.execute(skill, params, { workspace })).toMatchObject({ ok: true });
    replace();
    const outcome = await runtime.execute(skill, params, { workspace, reject: false });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  });

  /** The parts that the cell of a call would be built from. */
  const plannedParts = async (): Promise<CellParts> => {
    const skill = await runtime.load(skillWith(IN));
    const { choice, grant } = await runtime.plan(skill, { workspace });
    const way = await machine.way(choice.candidate, skill.bundle);
    return { wall: way.wall, engine: way.engine, artifact: await way.prepare(), grant };
  };

  test('between the plan and the start prevents the start', async () => {
    const { wall, artifact, grant } = await plannedParts();
    replace();
    expect(() => wall.launch(artifact.spec(grant), grant)).toThrow(/symbolic link/);
  });

  test('between the start and the mount ends the cell before the skill runs', async () => {
    const { wall, artifact, grant } = await plannedParts();
    const process = wall.launch(artifact.spec(grant), grant);
    // bwrap has no arguments yet; they are written after this turn of the event loop.
    replace();
    const session = new Session({ process, artifact, grant, start: 'cold', preload: false });
    const report = await session.call(params);
    expect(report).toMatchObject({ started: false, reply: undefined });
    expect(JSON.stringify(report)).not.toContain(SECRET);
  });
});
