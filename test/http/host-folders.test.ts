/**
 * No answer reveals a folder of the host, whatever is wrong with a skill, the disk or the request.
 */
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HostFolders, packageRoot, toSkillError } from '../../src/inside.ts';
import { SkillError } from '../../src/index.ts';
import { ROUTES } from '../../src/http/routes/all.ts';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { openStage, type Stage } from './stage.ts';
import { connectTo } from '../mcp/connect.ts';

const ECHO = 'def execute(params):\n    return {"echo": params}';
/** One skill for each kind of defect. */
const SKILLS = {
  echo: { source: ECHO },
  invalid: { source: ECHO, manifest: { limits: { timeout: 'soon' } } },
  drift: { source: `import socket\n${ECHO}` },
  locked: { source: ECHO, files: { 'skill.lock': '{"version":1}' } },
  missing: { manifest: { entry: 'nothing.py' } },
  linked: { source: ECHO },
  unreadable: { source: ECHO, manifest: { parameters: { $ref: './other.json' } } },
  demands: { source: ECHO, manifest: { requirements: ['no-such-package-of-tests==1.0'] } },
  asks: { source: ECHO, manifest: { env_vars: { COLOUR: { required: true } } } },
  writes: {
    source: `
      def execute(params):
          open(params["path"], "w").write("x")
    `,
    manifest: { capabilities: { filesystem: [{ path: '${workspace}', access: 'read' }] } },
  },
  absent: {
    source: ECHO,
    manifest: { capabilities: { filesystem: [{ path: '${workspace}/absent', access: 'read' }] } },
  },
  image: { source: undefined, manifest: { execution: 'container', container: { image: './image.tar' } } },
  signed: { source: ECHO },
};
const NAMES = Object.keys(SKILLS).map((name) => `test/${name}`);

let stage: Stage;
let workspace: string;
let client: Client;
let mcp: SkillServer;

beforeAll(async () => {
  workspace = join(openFolder(), 'workspace');
  mkdirSync(workspace);
  const policy = 'skills: [{ match: "test/signed", decision: allow, require_signature: true }]';
  stage = await openStage({ skills: SKILLS, policy, listen: { workspace } });
  symlinkSync('/etc/hostname', join(stage.folder, 'skills/test/linked/link'));
  mcp = new SkillServer({ runtime: stage.runtime, execute: { workspace, isolated: true } });
  client = await connectTo(mcp);
});

afterAll(async () => {
  await client.close();
  await mcp.close();
  await stage[Symbol.asyncDispose]();
  removeFolder(join(workspace, '..'));
});

/** The folders that a text contains. */
function foldersIn(text: string): string[] {
  const known = [stage.folder, join(workspace, '..'), packageRoot(), homedir()].filter((at) =>
    text.includes(at),
  );
  const places = known.map((folder) => text.slice(Math.max(0, text.indexOf(folder) - 80)).slice(0, 200));
  return [...places, ...(text.match(/\n\s+at .*:\d+:\d+/g) ?? [])];
}

async function expectNone(asked: Promise<Response>): Promise<string> {
  const text = await (await asked).text();
  expect(foldersIn(text)).toEqual([]);
  return text;
}

describe('no host folder is revealed to a caller', () => {
  test.each(ROUTES.filter(({ path }) => path.includes('{name}')))(
    'by $method $path of any skill',
    async ({ method, path, body }) => {
      const codes = new Set<unknown>();
      const given = path.endsWith('execute') ? { params: { path: 'denied' } } : { digest: 'sha256:0' };
      const json = body ? given : undefined;
      for (const name of [...NAMES, 'test/nothing']) {
        for (const as of ['both', 'admin']) {
          const url = path.replace('{name}', name);
          const text = await expectNone(stage.ask(url, { method: method.toUpperCase(), as, json }));
          codes.add((JSON.parse(text) as { error?: { code: string } }).error?.code);
        }
      }
      if (path.endsWith('execute'))
        expect([...codes]).toEqual(expect.arrayContaining(['manifest_invalid', 'manifest_drift']));
    },
  );

  test.each(ROUTES.filter(({ path }) => !path.includes('{name}')))(
    'by $method $path',
    async ({ method, path }) => {
      await stage.execute('test/writes', { path: 'denied' });
      for (const query of ['', '?limit=x&since=x'])
        await expectNone(
          stage.ask(path.replace('{id}', 'none') + query, { method: method.toUpperCase(), as: 'both' }),
        );
    },
  );

  test('in the events of a call that fails', async () => {
    for (const name of NAMES)
      await expectNone(stage.execute(name, { path: 'denied' }, { headers: { accept: 'text/event-stream' } }));
  });

  test('in an MCP tool', async () => {
    const { tools } = await client.listTools();
    expect(foldersIn(JSON.stringify(tools))).toEqual([]);
    const ours = tools.filter(({ name }) => name.startsWith('test__'));
    expect(ours.length).toBeGreaterThan(3);
    for (const { name } of ours) {
      const result = await client.callTool({ name, arguments: { path: 'denied' } });
      expect(foldersIn(JSON.stringify(result))).toEqual([]);
    }
  });

  test('if the home becomes read-only', async () => {
    // The folder of staged copies becomes a file, so every new load fails inside Skillcell.
    const other = await openStage({ skills: { late: { source: ECHO } }, listen: { workspace } });
    try {
      const home = join(other.folder, 'home');
      rmSync(home, { recursive: true, force: true });
      writeFileSync(home, 'no folder');
      const text = await (await other.execute('test/late')).text();
      expect(text).toContain('"ok":false');
      expect(text).not.toContain(other.folder);
      for (const path of ['/readyz', '/v1/skills', '/v1/skills/test/late', '/v1/receipts', '/v1/calls'])
        expect(await (await other.ask(path, { as: 'both' })).text()).not.toContain(other.folder);
      rmSync(home);
      mkdirSync(home);
      chmodSync(home, 0o700);
    } finally {
      await other[Symbol.asyncDispose]();
    }
  });
});

describe('folders of the host', () => {
  const folders = new HostFolders({
    home: '/srv/cells',
    registries: ['/srv/app/skills', '/srv/cells/installed'],
    workspace: '/srv/work',
  });

  test.each([
    ['Cannot read /srv/app/skills/a/b/manifest.yaml', 'Cannot read <skills>/a/b/manifest.yaml'],
    ['"/srv/cells/store/x" and /srv/cells', '"<home>/store/x" and <home>'],
    ['/srv/work/a, /srv/app/.env.', '<workspace>/a, <project>/.env.'],
    ['/srv/workshop and /srv/cells-2 are others', '/srv/workshop and /srv/cells-2 are others'],
    ['read /etc/passwd', 'read /etc/passwd'],
    ['Install them: skillcell install /srv/app/skills/a/b', 'Install them: skillcell install a/b'],
    ['Run `skillcell lock /srv/app/skills/a/b_c`.', 'Run `skillcell lock a/b_c`.'],
    ['skillcell lock /srv/app/skills/a/b/c', 'skillcell lock <skills>/a/b/c'],
  ])('in %j are shown as %j', (text, shown) => {
    expect(folders.text(text)).toBe(shown);
  });

  test('appear in no part of an error detail, nor do our source locations', () => {
    const error = new SkillError('skill_unavailable', 'x', {
      fix: 'Look into /srv/cells.',
      detail: { stack: 'at x', tried: [{ '/srv/cells/a': ['/srv/work'] }] },
    });
    expect(folders.error(error.toBody())).toEqual({
      code: 'skill_unavailable',
      message: 'x',
      fix: 'Look into <home>.',
      detail: { tried: [{ '<home>/a': ['<workspace>'] }] },
    });
  });

  test('of any kind are removed from internal errors', () => {
    let thrown: unknown;
    try {
      readFileSync('/var/lib/some/where');
    } catch (error) {
      thrown = error;
    }
    const { message, detail } = folders.error(toSkillError(thrown).toBody());
    expect(message).toContain("ENOENT: no such file or directory, open '<path>'");
    expect(detail).toEqual({});
  });
});
