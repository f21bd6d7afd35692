/**
 * The skills that need more than computing: a granted folder, and http to a declared host.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildSkill, parsePolicy } from '../../src/index.ts';
import { openTestRuntime, type TestRuntime } from '../cell/test-runtime.ts';
import { bundled, copySource, editManifest } from './copy-skill.ts';

let opened: TestRuntime;

beforeAll(() => {
  const policy = parsePolicy('network: { allow_private: ["127.0.0.1"] }', { file: 'policy.yaml' });
  opened = openTestRuntime({ audit: false, policy });
});

afterAll(() => opened.close());

describe('text/dir_words', () => {
  const EXPECTED = {
    files: [
      { name: 'a"b.txt', bytes: 6, words: 2 },
      { name: 'z.txt', bytes: 19, words: 3 },
    ],
    total_words: 5,
  };
  let workspace: string;

  beforeAll(() => {
    workspace = join(opened.folder, 'workspace');
    mkdirSync(join(workspace, 'inner'), { recursive: true });
    writeFileSync(join(workspace, 'z.txt'), 'one  two\nthree\n\t\r\n ');
    writeFileSync(join(workspace, 'a"b.txt'), 'ä  b\n');
    writeFileSync(join(workspace, 'other.md'), 'not counted');
    writeFileSync(join(workspace, 'inner', 'deep.txt'), 'not counted');
    writeFileSync(join(opened.folder, 'secret.txt'), 'not reachable');
    symlinkSync('../secret.txt', join(workspace, 'link.txt'));
  });

  test('counts the files of the granted folder and no others', async () => {
    const { result } = await opened.runtime.execute(bundled('text/dir_words'), {}, { workspace });
    expect(result).toEqual(EXPECTED);
  });

  test('does the same when it is built here', async () => {
    const dir = copySource('text/dir_words', opened.folder);
    buildSkill(dir);
    const { result } = await opened.runtime.execute(dir, {}, { workspace });
    expect(result).toEqual(EXPECTED);
  });

  test('has no folder when none is granted', async () => {
    const outcome = await opened.runtime.execute(bundled('text/dir_words'), {}, { reject: false });
    expect(outcome.ok).toBe(false);
    expect(outcome.logs).toContain('Cannot open the folder "/workspace"');
  });
});

describe('web/fetch_status', () => {
  let server: Server;
  let origin: string;
  let skill: string;

  beforeAll(async () => {
    server = createServer((request, response) => {
      response.writeHead(request.url === '/here' ? 200 : 404, {
        'content-type': 'text/plain; charset=utf-8',
      });
      response.end('eleven byte');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    origin = `http://127.0.0.1:${port}`;
    skill = copySource('web/fetch_status', opened.folder);
    editManifest(skill, (text) =>
      text.replace('example.com, port: 443, scheme: https', `127.0.0.1, port: ${port}, scheme: http`),
    );
    buildSkill(skill);
  });

  afterAll(() => server.close());

  test.each([
    ['/here', 200],
    ['/nowhere', 404],
  ])('asks for %s', async (path, status) => {
    const url = origin + path;
    const { result } = await opened.runtime.execute(skill, { url });
    expect(result).toEqual({ url, status, content_type: 'text/plain; charset=utf-8', body_bytes: 11 });
  });

  test('is denied a host that the manifest does not declare', async () => {
    const url = `${origin}/here`;
    const outcome = await opened.runtime.execute(bundled('web/fetch_status'), { url }, { reject: false });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
    expect(outcome.capabilities.denied).toHaveLength(1);
  });

  test('does not load when the manifest declares no network, and says what the binary imports', async () => {
    const dir = copySource('web/fetch_status', join(opened.folder, 'without'));
    editManifest(dir, (text) => text.replace(/capabilities:\n {2}network:\n.*\n/, 'capabilities: {}\n'));
    buildSkill(dir);
    await expect(opened.runtime.load(dir)).rejects.toMatchObject({
      code: 'manifest_drift',
      message: expect.stringContaining('skillcell:skill/host@0.1.0#fetch') as unknown,
    });
  });
});
