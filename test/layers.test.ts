/**
 * Checks the structure of the source: import direction, file size, named exports.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** A part imports only from parts to its left. */
const PIPELINE = [
  'hook',
  'offload',
  'manifest',
  'load',
  'trust',
  'policy',
  'cell',
  'broker',
  'dispatch',
  'tools',
  'calls',
  'telemetry',
  'audit',
  'results',
  'params',
  'record',
  'tree',
  'runtime-options',
  'call',
  'make-call',
  'programs',
  'overlays',
  'source-gate',
  'stages',
  'runtime',
  'study',
  'build',
  'distribution',
  'tenants',
  'adapters',
  'cluster',
  'api',
  'index',
  'inside',
];
/** The rooms of `src/cell`, and what each may import in addition to itself and the contract. Only `machine.ts` imports all. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  linux: [],
  protocol: ['linux'],
  images: ['linux'],
  verdict: ['protocol'],
  walls: ['linux', 'protocol', 'images'],
  engines: ['linux', 'protocol', 'images'],
  pool: ['linux', 'protocol', 'verdict'],
};
/** Files of `src/cell` outside the rooms that every room may import. */
const CELL_WORDS = ['contract.ts', 'native-env.ts'];
const FRONT_ENDS = ['cli', 'mcp', 'http', 'web'];
/** Files that every part may import: the shared vocabulary, and the package folder. */
const SHARED = [
  'vocabulary',
  'errors',
  'fault-owner',
  'json-text',
  'node-network',
  'outcome',
  'package-root',
];
/** Files that load nothing else, which the command line imports so that `--help` and errors stay fast. */
const LIGHT = new Set([
  'src/errors.ts',
  'src/package-root.ts',
  'src/manifest/printable.ts',
  'src/load/home.ts',
  'src/hook/answer.ts',
  'src/hook/findings.ts',
]);
/** The entry point of the attacks, which are a separate package: it may import everything. */
const DOOR_OF_ATTACKS = 'for-attacks';
/** Commands that run programs outside the source, such as those that are timed. */
const SHIPPED_TOOLS: readonly (readonly [command: string, folder: string])[] = [
  ['src/cli/commands/bench.ts', 'bench/runner/'],
];
/** Commands that only start another front end. */
const STARTED_FRONT_ENDS: readonly (readonly [command: string, folder: string])[] = [
  ['src/cli/commands/mcp.ts', 'src/mcp/'],
  ['src/cli/commands/serve.ts', 'src/http/'],
  ['src/cli/commands/tokens.ts', 'src/http/'],
];
/** Commands that belong to a cluster. */
const CLUSTER_COMMANDS = new Set(
  ['commands/worker', 'commands/cluster', 'commands/audit', 'open-cluster'].map(
    (name) => `src/cli/${name}.ts`,
  ),
);
/** The client of the cluster's servers: optional, so only one folder may import it. */
const CLUSTER_CLIENT = /^@nats-io\//;
/** The text of an outcome for a model, which adapters share with the MCP server. */
const MODEL_TEXT = 'src/mcp/result.ts';
/** The types of answers that the service gives and the console shows. */
const CONSOLE_TYPES = 'src/web/types.ts';
/** Agent frameworks: optional, so only the adapter of each may import it. */
const FRAMEWORKS: Readonly<Record<string, RegExp>> = {
  'src/adapters/ai-sdk.ts': /^ai(?:\/|$)/,
  'src/adapters/claude-agent-sdk.ts': /^@anthropic-ai\//,
  'src/adapters/langchain.ts': /^@langchain\//,
  'src/adapters/mastra.ts': /^@mastra\//,
  'src/adapters/openai-agents.ts': /^@openai\//,
};
/** The message types between cells and the host. The host imports nothing else from a guest, and no values. */
const PROTOCOL = 'guest/protocol.ts';
/** Modules that open connections. In `src/distribution/`, only one folder imports them. */
const CONNECTING = /^(?:node:)?(?:http|https|http2|net|tls|dgram|dns(?:\/promises)?)$|\/node-network\.ts$/;
const SENDER = 'src/distribution/http/';
const MAX_LINES = 400;

const sources = globSync('src/**/*.ts', { cwd: ROOT });
const attacks = globSync('attacks/**/*.ts', { cwd: ROOT });
const guests = globSync('guest/**/*.{ts,js,mjs}', { cwd: ROOT });

/** `src/cell/pool/pool.ts` belongs to `cell`, `src/runtime.ts` to `runtime`. */
function partOf(file: string): string {
  const [, part = ''] = file.split('/');
  return part.replace(/\.ts$/, '');
}

function importsOf(source: string): string[] {
  const patterns = [
    /^(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]/gm,
    /^import\s*['"]([^'"]+)['"]/gm,
    /\bimport\(\s*['"]([^'"]+)['"]/g,
  ];
  return patterns.flatMap((pattern) => [...source.matchAll(pattern)].map(([, specifier = '']) => specifier));
}

/** The project's own files that `file` imports, as paths from the root. */
function ownImportsOf(file: string, source: string): string[] {
  const relative = importsOf(source).filter((specifier) => specifier.startsWith('.'));
  return relative.map((specifier) => normalize(join(dirname(file), specifier)));
}

function mayImport(file: string, target: string): boolean {
  const [from, to] = [partOf(file), partOf(target)];
  const named = [...SHIPPED_TOOLS, ...STARTED_FRONT_ENDS];
  if (named.some(([command, folder]) => file === command && target.startsWith(folder))) return true;
  if (target.startsWith('src/cluster/') && CLUSTER_COMMANDS.has(file)) return true;
  if (target === MODEL_TEXT && from === 'adapters') return true;
  if (target === CONSOLE_TYPES && from === 'http') return true;
  if (target === PROTOCOL) return from === 'cell';
  if (!target.startsWith('src/')) return false;
  if (from === DOOR_OF_ATTACKS) return true;
  if (from === 'cell' && to === 'cell') return mayImportInCell(file, target);
  if (from === to) return true;
  if (FRONT_ENDS.includes(from))
    return to === 'inside' || to === 'vocabulary' || (from === 'cli' && LIGHT.has(target));
  if (SHARED.includes(to)) return true;
  const [left, right] = [PIPELINE.indexOf(to), PIPELINE.indexOf(from)];
  return left !== -1 && left < right;
}

/** `src/cell/walls/jail/wall.ts` is in the room `walls`, `src/cell/machine.ts` in none. */
function roomOf(file: string): string | undefined {
  const [, , room = '', ...below] = file.split('/');
  return below.length > 0 ? room : undefined;
}

function mayImportInCell(file: string, target: string): boolean {
  const [from, to] = [roomOf(file), roomOf(target)];
  if (from === undefined || from === to) return true;
  if (to === undefined) return CELL_WORDS.some((word) => target === `src/cell/${word}`);
  return ROOMS[from]?.includes(to) === true;
}

function forbiddenImports(file: string, source: string): string[] {
  const targets = ownImportsOf(file, source).filter((target) => !mayImport(file, target));
  return targets.map((target) => `${file} imports ${target}`);
}

/** Only the subpath of an adapter leads to it, so that nobody else loads its framework. */
function leadsToFramework(file: string, source: string): string[] {
  const frameworks = Object.entries(FRAMEWORKS).flatMap(([adapter, pattern]) =>
    importsOf(source).filter((specifier) => file !== adapter && pattern.test(specifier)),
  );
  const adapters = ownImportsOf(file, source).filter((target) => target in FRAMEWORKS);
  const own = file.replace(/^src\/api\//, 'src/adapters/');
  return [...frameworks, ...adapters.filter((target) => target !== own)];
}

/** What a file of `src/distribution` connects with, unless it belongs to the folder that may. Types are no connection. */
function sendsItself(file: string, source: string): string[] {
  if (!file.startsWith('src/distribution/') || file.startsWith(SENDER)) return [];
  const values = source.replaceAll(/^import type\b[^;]*;/gm, '');
  const modules = importsOf(values).filter((specifier) => CONNECTING.test(specifier));
  // `fetch(` after a name or at the start of a line is a method.
  const globals =
    values.match(
      /(?:[=(,:?[]|\bawait|\breturn|\bnew)\s*(?:globalThis\.)?(?:fetch|WebSocket|EventSource)\(/g,
    ) ?? [];
  return [...modules, ...globals];
}

function reachesIntoSource(file: string, source: string): string[] {
  return ownImportsOf(file, source).filter((target) => target.startsWith('src/') || target.startsWith('..'));
}

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

describe('the source tree', () => {
  test('has only the parts that are listed here', () => {
    const known = new Set([...PIPELINE, ...FRONT_ENDS, ...SHARED, DOOR_OF_ATTACKS]);
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.map(partOf).filter((part) => !known.has(part))).toEqual([]);
  });

  test('imports along the pipeline, and front ends import only inside.ts', () => {
    expect(sources.flatMap((file) => forbiddenImports(file, read(file)))).toEqual([]);
  });

  test('imports agent frameworks only in their adapters, and these only in their subpaths', () => {
    expect(Object.keys(FRAMEWORKS).filter((file) => !sources.includes(file))).toEqual([]);
    expect(sources.flatMap((file) => leadsToFramework(file, read(file)))).toEqual([]);
    expect(leadsToFramework('src/runtime.ts', `import { tool } from 'ai';`)).toEqual(['ai']);
    expect(leadsToFramework('src/index.ts', `export { a } from './adapters/mastra.ts';`)).toHaveLength(1);
  });

  test('imports the client of cluster servers only in src/cluster', () => {
    const importing = sources.filter((file) => importsOf(read(file)).some((one) => CLUSTER_CLIENT.test(one)));
    expect(importing.length).toBeGreaterThan(0);
    expect(importing.filter((file) => partOf(file) !== 'cluster')).toEqual([]);
  });

  test('sends requests of distribution only from its one folder for that', () => {
    expect(sources.filter((file) => file.startsWith(SENDER)).length).toBeGreaterThan(0);
    expect(sources.flatMap((file) => sendsItself(file, read(file)))).toEqual([]);
    const elsewhere = 'src/distribution/oci/a.ts';
    expect(sendsItself(elsewhere, `import { request } from 'node:https';`)).toEqual(['node:https']);
    expect(sendsItself(elsewhere, `import { nodeHttp } from '../../node-network.ts';`)).toHaveLength(1);
    expect(sendsItself(elsewhere, `import type { Server } from 'node:http';`)).toEqual([]);
    expect(sendsItself(elsewhere, `const a = await fetch(url);`)).toHaveLength(1);
    expect(sendsItself(elsewhere, `const a = await source.fetch(url);`)).toEqual([]);
  });

  test('gives agents no way to fetch, publish or install skills', () => {
    const served = sources.filter((file) => /^src\/(?:mcp|http|web)\//.test(file));
    const leading = served.filter((file) =>
      /\bdistribution\b|\b(?:publishSkill|mirrorSkill)\b/.test(read(file)),
    );
    expect(served.length).toBeGreaterThan(0);
    expect(leading).toEqual([]);
  });

  test('has only the folders in src/cell that are listed here', () => {
    const rooms = sources.filter((file) => partOf(file) === 'cell').map(roomOf);
    expect(new Set(rooms.filter((room) => room !== undefined))).toEqual(new Set(Object.keys(ROOMS)));
  });

  test('keeps code that runs inside a cell separate', () => {
    expect(guests.flatMap((file) => reachesIntoSource(file, read(file)))).toEqual([]);
  });

  test('shares only types with guests, no code', () => {
    const valueImport = /^import (?!type\b)[^;]*guest\/protocol\.ts'/m;
    expect([...sources, ...guests].filter((file) => valueImport.test(read(file)))).toEqual([]);
    expect(read(PROTOCOL)).not.toMatch(/^(?:export )?(?:const|let|var|function|class|enum|import)\b/m);
  });

  test('lets attacks import only one entry point', () => {
    const reached = attacks.flatMap((file) => reachesIntoSource(file, read(file)));
    expect(new Set(reached)).toEqual(new Set([`src/${DOOR_OF_ATTACKS}.ts`]));
  });

  test(`has no file over ${MAX_LINES} lines`, () => {
    const files = [...sources, ...guests, ...globSync('guest/**/*.py', { cwd: ROOT })];
    expect(files.filter((file) => read(file).trimEnd().split('\n').length > MAX_LINES)).toEqual([]);
  });

  test('has named exports only', () => {
    expect(sources.filter((file) => /^export default\b/m.test(read(file)))).toEqual([]);
  });
});

describe('the import check', () => {
  test.each([
    ['src/load/lock.ts', `import { a } from '../cell/jail.ts';`],
    ['src/load/lock.ts', `import type {\n  A,\n  B,\n} from '../runtime.ts';`],
    ['src/load/lock.ts', `export { a } from '../cell/jail.ts';`],
    ['src/load/lock.ts', `import '../index.ts';`],
    ['src/load/lock.ts', `const a = await import('../policy/grant.ts');`],
    ['src/load/lock.ts', `import { a } from '../../test/helper.ts';`],
    ['src/cli/run.ts', `import { a } from '../outcome.ts';`],
    ['src/http/app.ts', `import { a } from '../errors.ts';`],
    ['src/cli/run.ts', `import { a } from '../mcp/server.ts';`],
    ['src/cli/commands/run.ts', `import { a } from '../../../bench/runner/rounds.ts';`],
    ['src/cli/commands/attack.ts', `import { a } from '../../../attacks/runner/table.ts';`],
    ['src/call.ts', `import { a } from './for-attacks.ts';`],
    ['src/cli/commands/bench.ts', `import { a } from '../../../bench/peer.ts';`],
    ['src/runtime.ts', `import { a } from './cli/main.ts';`],
    ['src/load/lock.ts', `import type { A } from '../../guest/protocol.ts';`],
    ['src/cell/machine.ts', `import { a } from '../../guest/node/main.ts';`],
    ['src/errors.ts', `import { a } from './cell/jail.ts';`],
    ['src/cell/walls/jail/wall.ts', `import { a } from '../../engines/python/engine.ts';`],
    ['src/cell/engines/python/zygote.ts', `import { a } from '../../walls/jail/wall.ts';`],
    ['src/cell/linux/meter.ts', `import { a } from '../walls/jail/wall.ts';`],
    ['src/cell/protocol/frames.ts', `import { a } from '../machine.ts';`],
  ])('in %s refuses %s', (file, source) => {
    expect(forbiddenImports(file, source)).toHaveLength(1);
  });

  test.each([
    ['src/cell/pool/pool.ts', `import { a } from '../../policy/grant.ts';\nimport { b } from './gate.ts';`],
    ['src/cell/walls/jail.ts', `import { a } from '../../errors.ts';`],
    ['src/cell/protocol/frames.ts', `import type { A } from '../../../guest/protocol.ts';`],
    [
      'src/cell/machine.ts',
      `import { a } from './walls/jail/wall.ts';\nimport { b } from './engines/node/engine.ts';`,
    ],
    ['src/cli/run.ts', `import { a } from '../inside.ts';\nimport { b } from './format.ts';`],
    ['src/runtime.ts', `import { a } from './audit/chain.ts';\nimport fs from 'node:fs';`],
    ['src/cli/commands/bench.ts', `import { a } from '../../../bench/runner/rounds.ts';`],
    ['src/cli/commands/mcp.ts', `import { a } from '../../mcp/serve.ts';`],
    ['src/index.ts', `export { a } from './runtime.ts';\nexport type { B } from './errors.ts';`],
    ['src/errors.ts', `import type { Outcome } from './outcome.ts';`],
  ])('in %s accepts %s', (file, source) => {
    expect(forbiddenImports(file, source)).toEqual([]);
  });

  test('detects a guest that imports from the source', () => {
    expect(reachesIntoSource('guest/js/harness.ts', `import { a } from '../../src/errors.ts';`)).toHaveLength(
      1,
    );
    expect(reachesIntoSource('guest/js/harness.ts', `import { a } from '../frames.ts';`)).toEqual([]);
  });
});

describe('the lint rules for src/', () => {
  test.each([
    ['export const a = (): void => void work();'],
    ['export function a(): void {\n  return void work();\n}'],
    ['export function a(): void {\n  void work();\n}'],
  ])('refuse a floating promise: %s', (use) => {
    const folder = mkdtempSync(join(tmpdir(), 'skillcell-lint-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    mkdirSync(join(folder, 'src'));
    copyFileSync(join(ROOT, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
    writeFileSync(join(folder, 'src/a.ts'), `async function work(): Promise<void> {}\n${use}\n`);
    const { status, stdout } = spawnSync(join(ROOT, 'node_modules/.bin/oxlint'), ['src'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(stdout).toContain('no-void');
    expect(status).toBe(1);
  });
});
