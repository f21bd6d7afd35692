/**
 * Denied acts: the printed fix, followed word by word, makes the same call succeed and grants nothing more than it needed.
 *
 * @module
 */
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openScenes } from './hello-server.ts';
import { inLanguage, LANGUAGES, NATIVE, WRITING, type Language } from './languages.ts';
import type { Placed, Row } from './scene.ts';

const { scenes, port } = await openScenes();

const PRIVATE = 'network: { allow_private: ["127.0.0.1"] }\n';
const server80 = { host: '127.0.0.1', port, scheme: 'http' };
const network = (rule: Record<string, unknown>): Record<string, unknown> => ({
  capabilities: { network: [rule] },
});
const files = (...filesystem: Record<string, unknown>[]): Record<string, unknown> => ({
  capabilities: { filesystem },
});
const denied = { code: 'capability_denied', judge: true } as const;

/** The cells of a root host are not root. */
function createFolder({ outside }: Placed): void {
  const folder = join(outside, 'one/two');
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o777);
}

/** Python in Wasm is slow to prepare, and its rules are those of the other Wasm engines. */
const rowsFor = (language: Language): number => (language === 'python in wasm' ? 1 : 9);

const NETWORK: Row[] = LANGUAGES.flatMap((language): Row[] =>
  [
    {
      ...inLanguage(language),
      ...denied,
      name: `${language}: no rule for the host, the port, the scheme and a private address`,
      params: { op: 'fetch', url: `http://127.0.0.1:${port}/a` },
      says: /allow_private/,
    },
    {
      ...inLanguage(language, network({ ...server80, methods: ['POST'], paths: ['/a'] })),
      ...denied,
      judge: false,
      name: `${language}: another method`,
      params: { op: 'fetch', url: `http://127.0.0.1:${port}/a`, method: 'GET' },
      policy: PRIVATE,
    },
    {
      ...inLanguage(language, network({ ...server80, methods: ['GET'], paths: ['/b/*'] })),
      ...denied,
      judge: false,
      name: `${language}: another path`,
      params: { op: 'fetch', url: `http://127.0.0.1:${port}/a/b` },
      policy: PRIVATE,
    },
    {
      ...inLanguage(language, network({ host: '127.0.0.1' })),
      ...denied,
      judge: false,
      name: `${language}: another port and scheme`,
      params: { op: 'fetch', url: `http://127.0.0.1:${port}/a` },
    },
    {
      ...inLanguage(language, network({ ...server80, methods: ['GET'], paths: ['/a'] })),
      ...denied,
      name: `${language}: a host that the policy does not list`,
      params: { op: 'fetch', url: `http://127.0.0.1:${port}/a` },
      policy: 'network: { allow: ["a.test"] }\n',
      says: /network\.allow in .*\["a\.test", "127\.0\.0\.1"\]/,
    },
  ].slice(0, rowsFor(language)),
);

const toAddress = (): Record<string, unknown> => ({ url: `http://127.0.0.1:${port}/a` });
const NAMES: Row[] = (['python', 'js in wasm'] as const).flatMap((language): Row[] => [
  {
    ...inLanguage(language),
    ...denied,
    name: `${language}: a name of a private address`,
    params: { op: 'fetch', url: `http://localhost:${port}/a` },
    says: /use 127\.0\.0\.1 instead of localhost/,
    person: toAddress,
  },
]);

const READING: Row[] = LANGUAGES.flatMap((language): Row[] =>
  [
    {
      ...inLanguage(language),
      ...denied,
      name: `${language}: reads an absolute path`,
      params: { op: 'read', path: '@outside/a.txt' },
      says: /filesystem\.allow/,
    },
    {
      ...inLanguage(language),
      ...denied,
      name: `${language}: reads an undeclared file of the workspace`,
      params: { op: 'read', path: '/workspace/a.txt' },
      says: /\$\{workspace\}\/a\.txt", access: read \}/,
    },
    {
      ...inLanguage(language, files({ path: '${workspace}', access: 'read' })),
      ...denied,
      judge: false,
      name: `${language}: was called without a workspace`,
      params: { op: 'read', path: '/workspace/a.txt' },
      options: { workspace: undefined } as never,
      says: /^Pass --workspace DIR \(library: workspace\)\.$/,
    },
    {
      ...inLanguage(language),
      ...denied,
      name: `${language}: reads an undeclared variable`,
      params: { op: 'env', name: 'COLOUR' },
      says: /Set env_vars\.COLOUR .* --env COLOUR/,
    },
  ].slice(0, rowsFor(language)),
);

const WRITERS: Row[] = WRITING.flatMap((language): Row[] => [
  {
    ...inLanguage(language),
    ...denied,
    name: `${language}: writes an absolute path`,
    params: { op: 'write', path: '@outside/a.txt' },
  },
  {
    ...inLanguage(language, files({ path: '${workspace}/a.txt', access: 'read' })),
    ...denied,
    name: `${language}: writes a file that is declared as readable`,
    params: { op: 'write', path: '/workspace/a.txt' },
    says: /Set capabilities\.filesystem\.0\.access .*: read-write\./,
  },
  {
    ...inLanguage(language),
    ...denied,
    judge: false,
    name: `${language}: creates folders, and only the wanted one is proposed`,
    params: { op: 'mkdir', path: '@outside/one/two' },
    says: /\/one\/two", access: read-write/,
    person: createFolder,
  },
  {
    ...inLanguage(language),
    ...denied,
    name: `${language}: writes to a relative path`,
    params: { op: 'write', path: 'out/a.txt' },
    advice: true,
    says: /Relative paths start in the folder of the skill.*"\/workspace\/out\/a\.txt"/,
  },
]);

const OTHER: Row[] = [
  {
    ...inLanguage('node'),
    ...denied,
    name: 'node: a connection whose purpose only a recorded call shows',
    params: { op: 'get', url: `http://127.0.0.1:${port}/a` },
    says: /allow_private.*`skillcell record .* --allow-network --write`/,
  },
  {
    ...inLanguage('python in wasm'),
    ...denied,
    name: 'python in wasm: writes an absolute path',
    params: { op: 'write', path: '@outside/a.txt' },
  },
  {
    ...inLanguage('python in wasm'),
    ...denied,
    name: 'python in wasm: reads an undeclared variable',
    params: { op: 'env', name: 'COLOUR' },
  },
  ...NATIVE.flatMap((language): Row[] => [
    {
      ...inLanguage(language),
      ...denied,
      name: `${language}: starts a program`,
      params: { op: 'spawn' },
      says: /Set limits\.processes in .*: 2\./,
    },
  ]),
  {
    ...inLanguage('python'),
    ...denied,
    judge: false,
    name: 'python: os.makedirs never proposes a folder above the wanted one',
    params: { op: 'makedirs', path: '@outside/one/two' },
    says: /\/one\/two", access: read-write/,
    person: createFolder,
  },
  {
    ...inLanguage('python'),
    ...denied,
    name: 'python: reads a path of the system, which nobody can grant',
    params: { op: 'read', path: '/etc/hostname' },
    advice: true,
    says: /private to the sandbox and cannot be granted/,
  },
  {
    ...inLanguage('python', files({ path: '@outside', access: 'read' })),
    ...denied,
    name: 'python: the policy does not allow a declared path',
    params: { op: 'list', path: '@outside' },
    says: /filesystem\.allow/,
  },
  {
    ...inLanguage('python', {
      capabilities: { network: [{ ...server80, methods: ['GET'], paths: ['/a'] }] },
      env_vars: { API_KEY: { required: true, secret: true, hosts: ['a.test'] } },
    }),
    ...denied,
    judge: false,
    name: 'python: sends a secret to a host that it is not meant for',
    params: { op: 'send', name: 'API_KEY', url: `http://127.0.0.1:${port}/a` },
    policy: PRIVATE,
    options: { allowEnv: ['API_KEY'] },
    says: /Add to env_vars\.API_KEY\.hosts/,
  },
];

describe.each([
  ['the network', NETWORK],
  ['names', NAMES],
  ['reading', READING],
  ['writing', WRITERS],
  ['other acts', OTHER],
])('%s', (_, rows) => {
  test.each(rows)('$name', async (row) => {
    expect(await scenes.prove(row)).not.toBe('');
  });
});

test('the fix of a locked skill renews the lock', async () => {
  const fix = await scenes.prove({
    ...inLanguage('python'),
    ...denied,
    name: 'locked',
    params: { op: 'read', path: '/workspace/a.txt' },
    arrange: async (all, { dir, cwd }) => void (await all.run(`skillcell lock ${dir}`, cwd)),
  });
  expect(fix).toContain('Then run `skillcell lock /');
});
