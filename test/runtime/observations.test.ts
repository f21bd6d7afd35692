/**
 * The rows of docs/security/observations.md: what a skill, its server and its caller can observe depends neither on a secret's
 * value nor on another call. The same acts run with two values of one form, and all observations are compared.
 *
 * @module
 */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Needle } from '../../src/broker/secrets/needle.ts';
import { makePlaceholders, shapeOf } from '../../src/cell/protocol/placeholders.ts';
import { parsePolicy, type Outcome, type Skill } from '../../src/index.ts';
import { packageRoot } from '../../src/package-root.ts';
import { grantOf } from '../broker/support.ts';
import { TestServer } from '../broker/gateway/http-server.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { writeSkill } from '../write-skill.ts';

/** The skill guesses the first; the second has the same form. */
const VALUES = ['sk-invented0123456789abcdefghij', 'sk-zyxwvuts9876543210jihgfedcba'] as const;
/** Guesses that match growing prefixes of the first value, but never all of it. */
const GUESSES = [3, 6, 12, 20, 30].map((length) => VALUES[0].slice(0, length));

const secret = { value: VALUES[0] as string };
const policy = parsePolicy('network: { allow_private: ["127.0.0.1"] }', { file: 'policy' });
const { runtime, folder, close } = openTestRuntime({ policy, secrets: () => secret.value, audit: false });

const source = `
  import os, urllib.error, urllib.request
  def execute(params):
      seen = []
      key = os.environ["API_KEY"]
      for path, headers in params["requests"]:
          filled = {name: value.replace("KEY", key) for name, value in headers.items()}
          try:
              request = urllib.request.Request("http://127.0.0.1:%d%s" % (params["port"], path), None, filled)
              with urllib.request.urlopen(request, timeout=10) as answer:
                  sizes = []
                  while chunk := answer.read1(4096):
                      sizes.append(chunk.decode())
                  seen.append([answer.status, answer.reason, sorted(dict(answer.headers).items()), "".join(sizes)])
          except (OSError, urllib.error.URLError) as error:
              seen.append([type(error).__name__, str(error)])
      print(len(key), key[:3])
      return seen
`;

let server: TestServer;
/** The server's socket of each request. */
const connections: Socket[] = [];
beforeAll(async () => {
  // Echoes its path, so that the skill's author decides what it says; ignores the key.
  server = await TestServer.start((request, response) => {
    response.sendDate = false;
    connections.push(request.socket);
    response.setHeader('x-said', decodeURIComponent(request.url ?? ''));
    response.end(`said ${decodeURIComponent(request.url ?? '')}`);
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await close();
});

async function skillFor(mode: string, hosts: string[]): Promise<Skill> {
  const network = [{ host: '127.0.0.1', port: server.port, scheme: 'http', paths: ['/said/*'] }];
  const env_vars = { API_KEY: { required: true, secret: true, hosts } };
  const manifest = { capabilities: { network }, execution: [mode], env_vars };
  return runtime.load(writeSkill(folder, { source, manifest }));
}

/** The comparable observations, without times, memory and random names. */
function seenIn(outcome: Outcome): unknown {
  const { host_calls, output_bytes } = outcome.usage;
  const { logs, capabilities, warnings } = outcome;
  const end = outcome.ok ? outcome.result : outcome.error;
  return JSON.parse(JSON.stringify({ end, logs, capabilities, warnings, host_calls, output_bytes }));
}

async function seenWith(value: string, skill: Skill, requests: unknown): Promise<unknown> {
  secret.value = value;
  return seenIn(await runtime.execute(skill, { port: server.port, requests }, { reject: false }));
}

describe.each(['subprocess', 'wasm'])('a skill in mode %s', (mode) => {
  const said = GUESSES.map((guess) => [`/said/${guess}`, {}]);
  const acts: [string, string[], unknown][] = [
    ['answers with guesses of the server that it is for', ['127.0.0.1'], said],
    ['answers with guesses of a server that it is not for', ['api.test'], said],
    [
      'guesses that are sent to a server that it is not for',
      ['api.test'],
      GUESSES.map((guess) => ['/said/x', { 'X-A': guess }]),
    ],
    [
      'denials and failures',
      ['api.test'],
      [
        ['/other', {}],
        ['/said/%00', {}],
        ['/said/x', { 'X-A': 'KEY' }],
      ],
    ],
    ['requests with the key', ['127.0.0.1'], [['/said/x', { Authorization: 'Bearer KEY' }]]],
  ];
  it.each(acts)(
    'observes the same result, logs, errors, events and usage for two values: %s',
    async (_, hosts, requests) => {
      const skill = await skillFor(mode, hosts);
      const [first, second] = [
        await seenWith(VALUES[0], skill, requests),
        await seenWith(VALUES[1], skill, requests),
      ];
      expect(second).toEqual(first);
    },
  );
});

it('a placeholder depends only on the format of a value and on chance', () => {
  const [first, second] = VALUES.map(shapeOf);
  expect(second).toEqual(first);
  const secrets = [{ name: 'KEY', hosts: [], required: true, shape: shapeOf(VALUES[0]) }];
  const made = Array.from({ length: 3 }, () => makePlaceholders(grantOf({ secrets }))['KEY']);
  expect(new Set(made).size).toBe(3);
});

it('the search for a value takes the same steps whatever the text is', () => {
  const steps = (text: string): number => {
    let count = 0;
    const counting = {
      length: text.length,
      charCodeAt: (at: number) => (count++, text.charCodeAt(at)),
      slice: (from: number, to: number) => text.slice(from, to),
    } as unknown as string;
    new Needle(VALUES[0]).isIn(counting);
    return count;
  };
  const near = VALUES[0].slice(0, -1).repeat(20);
  expect(steps(near)).toBe(steps('x'.repeat(near.length)));
  expect(steps(VALUES[0] + near)).toBe(steps(near + VALUES[0]));
});

it('no connection serves two calls', async () => {
  const skill = await skillFor('wasm', ['127.0.0.1']);
  connections.length = 0;
  for (let call = 0; call < 3; call++) await seenWith(VALUES[0], skill, [['/said/x', {}]]);
  expect(connections).toHaveLength(3);
  expect(new Set(connections).size).toBe(3);
});

it('the log of a call with secrets arrives at its end and in one piece', async () => {
  const skill = await skillFor('subprocess', ['127.0.0.1']);
  const heard: string[] = [];
  const onEvent = ({ type }: { type: string }): void => void heard.push(type);
  const params = { port: server.port, requests: [['/said/x', {}]] };
  await runtime.execute(skill, params, { onEvent, reject: false });
  expect(heard.slice(-2)).toEqual(['log', 'done']);
  expect(heard.filter((type) => type === 'log')).toHaveLength(1);
});

it('every row of the document names an existing test', () => {
  const page = readFileSync(`${packageRoot()}/docs/security/observations.md`, 'utf8');
  const named = [...page.matchAll(/`(test\/[\w/.-]+\.ts)`/g)].map(([, file]) => file ?? '');
  expect(named.length).toBeGreaterThan(8);
  for (const file of named) expect(() => readFileSync(`${packageRoot()}/${file}`), file).not.toThrow();
});
