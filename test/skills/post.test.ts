/**
 * A skill in C that sends a body through `wasi:http`, with a timeout.
 */
import { cpSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildSkill } from '../../src/inside.ts';
import { parsePolicy } from '../../src/index.ts';
import { openTestRuntime, type TestRuntime } from '../cell/test-runtime.ts';
import { bundled, editManifest } from './copy-skill.ts';

let opened: TestRuntime;
let server: Server;
let skill: string;
let host: string;

beforeAll(async () => {
  const policy = parsePolicy('network: { allow_private: ["127.0.0.1"] }', { file: 'policy.yaml' });
  opened = openTestRuntime({ audit: false, policy });
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url, headers } = request;
      const facts = [method, headers['content-type'], headers['content-length'], Buffer.concat(chunks)];
      // This path is never answered during the test.
      if (url !== '/silence') response.end(facts.join('|'));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  host = `127.0.0.1:${port}`;
  skill = join(opened.folder, 'copies', 'post_text');
  cpSync(join(import.meta.dirname, 'post_text'), skill, { recursive: true });
  for (const header of ['skillcell.h', 'wasi_http.h'])
    cpSync(bundled(`web/fetch_status/src/${header}`), join(skill, 'src', header));
  editManifest(skill, (text) =>
    text.replace('example.com, port: 443, scheme: https', `127.0.0.1, port: ${port}, scheme: http`),
  );
  buildSkill(skill);
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await opened.close();
});

test.each([
  ['a short one', 'ä "text"'],
  ['none', ''],
  ['a long one', 'x'.repeat(100_000)],
])('a Wasm skill posts %s', async (_, text) => {
  const { result, capabilities } = await opened.runtime.execute(skill, { host, path: '/', text });
  expect(result).toBe(`POST|text/plain; charset=utf-8|${Buffer.byteLength(text)}|${text}`);
  expect(capabilities.used).toMatchObject([{ capability: 'network', asked: `POST http://${host}/` }]);
});

test('a Wasm skill gets a wasi:http error if the server is silent for too long', async () => {
  const params = { host, path: '/silence', text: 'hello?' };
  const outcome = await opened.runtime.execute(skill, params, { reject: false });
  expect(outcome).toMatchObject({ ok: false, error: { code: 'skill_error' } });
  expect(JSON.stringify(outcome)).toContain('The request failed: connection-read-timeout');
});
