/**
 * No agent can reach distribution: not over MCP, not over HTTP with any scope, and not with a shell but without a terminal. A
 * server counts who asks it for a skill.
 */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { InMemoryTransport } from '@modelcontextprotocol/client';
import { beforeAll, afterAll, describe, expect, test } from 'vitest';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { clientOf } from '../mcp/project.ts';
import { openStage, type Stage } from '../http/stage.ts';
import { serve, type TestServer } from './http/support.ts';
import { PersonLine } from './person-line.ts';

/** Everything that distribution does, and what changes with it. */
const ACTS = [
  'add',
  'update',
  'outdated',
  'remove',
  'publish',
  'mirror',
  'search',
  'install',
  'uninstall',
  'verify',
  'sign',
  'lock',
  'approve',
  'pins',
  'sources',
  'catalogs',
] as const;

let stage: Stage;

beforeAll(async () => {
  stage = await openStage({
    skills: { echo: { source: 'def execute(params):\n    return params\n' } },
  });
});
afterAll(() => stage[Symbol.asyncDispose]());

/** A server with one skill that anybody may fetch. */
function offering(): Promise<TestServer> {
  const text = '---\nname: offered\ndescription: An offer.\n---\n';
  const index = { skills: [{ name: 'offered', description: 'An offer.', files: ['SKILL.md'] }] };
  return serve((request, response) =>
    response.end(request.url?.endsWith('.json') === true ? JSON.stringify(index) : text),
  );
}

function assertNothingArrived(source: TestServer, ...folders: string[]): void {
  expect(source.seen).toEqual([]);
  for (const folder of folders) expect(existsSync(join(folder, 'skills.lock.json'))).toBe(false);
  const fetched = join(stage.folder, 'home', 'fetched');
  expect(existsSync(fetched) ? readdirSync(fetched) : []).toEqual([]);
}

describe('an agent over MCP', () => {
  test('has no tool and no method for it', async () => {
    const source = await offering();
    const skills = new SkillServer({ runtime: stage.runtime, execute: { isolated: true } });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const client = clientOf('2025-11-25');
    await skills.open().connect(ours);
    await client.connect(theirs);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['test__echo']);
    const args = { source: `${source.origin}/#offered`, skill: 'test/echo', yes: true };
    for (const act of ACTS) {
      for (const name of [act, `skillcell_${act}`, `skillcell__${act}`]) {
        const answer = await client.callTool({ name, arguments: args }).catch((error: unknown) => error);
        const isRefused = answer instanceof Error || (answer as { isError?: boolean }).isError === true;
        expect([name, isRefused]).toEqual([name, true]);
      }
    }
    await client.close();
    await skills.close();
    assertNothingArrived(source, stage.folder);
  });
});

describe('a client over HTTP', () => {
  test('is offered no route for it', async () => {
    const { paths } = (await (await stage.ask('/openapi.json', { as: 'admin' })).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const known = Object.keys(paths);
    expect(known.length).toBeGreaterThan(10);
    // An admin approves what is here, and verifies the chain of receipts.
    const acts = known.filter((path) => ACTS.some((act) => path.split('/').includes(act)));
    expect(acts.filter((path) => !/\/approve$|^\/v1\/(?:audit|receipts)\//.test(path))).toEqual([]);
  });

  test.each(['admin', 'both', 'caller'])('with the scopes of %s finds none by trying', async (as) => {
    const source = await offering();
    const json = { source: `${source.origin}/#offered`, sources: [`${source.origin}/#offered`], yes: true };
    const before = JSON.stringify(stage.runtime.list());
    for (const act of ACTS.filter((one) => one !== 'approve'))
      for (const path of [`/v1/${act}`, `/v1/skills/${act}`, `/v1/skills/test%2Fecho/${act}`])
        for (const method of ['POST', 'PUT', 'DELETE']) {
          const { status } = await stage.ask(path, { as, method, json });
          expect([method, path, [403, 404, 405].includes(status)]).toEqual([method, path, true]);
        }
    expect(JSON.stringify(stage.runtime.list())).toBe(before);
    assertNothingArrived(source, stage.folder);
  });
});

describe('an agent with a shell', () => {
  function line(): PersonLine {
    const folder = join(stage.folder, 'agent');
    mkdirSync(folder, { recursive: true, mode: 0o711 });
    return new PersonLine(folder);
  }

  test('cannot confirm for a person', async () => {
    const source = await offering();
    const who = line();
    for (const more of [[], ['--yes'], ['--yes', '--new-signer', 'skills/offered'], ['--yes', '--global']]) {
      const said = await who.refused('approval_required', 'add', `${source.origin}/#offered`, ...more);
      expect(said).toContain('A person must confirm "skills/offered"');
    }
    expect(existsSync(join(who.home, 'skills.lock.json'))).toBe(false);
    expect(existsSync(join(who.project, 'skills.lock.json'))).toBe(false);
  });

  test('cannot confirm by a pipe that says yes', async () => {
    const source = await offering();
    const who = line();
    const { code, stderr } = await who.run(['add', `${source.origin}/#offered`], {}, 'y\n');
    expect({ code, stderr }).toMatchObject({
      stderr: expect.stringContaining('error[approval_required]') as string,
    });
    expect(code).toBe(5);
  });
});
