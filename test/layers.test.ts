/**
 * The structure that the other files rely on: import direction, file size, named exports.
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
  'runtime-options',
  'runtime',
  'study',
  'build',
  'index',
];
const FRONT_ENDS = ['cli', 'mcp', 'http', 'web'];
/** What every part may use: the words they share, and where the package lies. */
const SHARED = ['errors', 'fault-owner', 'json-text', 'outcome', 'package-root'];
/** Commands that run what lies beside the source because it is more than source: programs to attack and to time. */
const SHIPPED_TOOLS: readonly (readonly [command: string, folder: string])[] = [
  ['src/cli/commands/attack.ts', 'attacks/runner/'],
  ['src/cli/commands/bench.ts', 'bench/runner/'],
];
/** Commands that start another front end, and do nothing else. */
const STARTED_FRONT_ENDS: readonly (readonly [command: string, folder: string])[] = [
  ['src/cli/commands/mcp.ts', 'src/mcp/'],
  ['src/cli/commands/serve.ts', 'src/http/'],
];
const MAX_LINES = 400;

const sources = globSync('src/**/*.ts', { cwd: ROOT });
const guests = globSync('guest/**/*.{ts,js,mjs}', { cwd: ROOT });

/** `src/cell/pool.ts` belongs to `cell`, `src/runtime.ts` to `runtime`. */
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
  if (!target.startsWith('src/')) return false;
  if (from === to) return true;
  if (FRONT_ENDS.includes(from)) return to === 'index';
  if (SHARED.includes(to)) return true;
  const [left, right] = [PIPELINE.indexOf(to), PIPELINE.indexOf(from)];
  return left !== -1 && left < right;
}

function forbiddenImports(file: string, source: string): string[] {
  const targets = ownImportsOf(file, source).filter((target) => !mayImport(file, target));
  return targets.map((target) => `${file} imports ${target}`);
}

function reachesIntoSource(file: string, source: string): string[] {
  return ownImportsOf(file, source).filter((target) => target.startsWith('src/') || target.startsWith('..'));
}

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

describe('the source tree', () => {
  test('has only parts that are named here', () => {
    const known = new Set([...PIPELINE, ...FRONT_ENDS, ...SHARED]);
    expect(sources.length).toBeGreaterThan(0);
    expect(sources.map(partOf).filter((part) => !known.has(part))).toEqual([]);
  });

  test('imports along the pipeline, front ends through the index only', () => {
    expect(sources.flatMap((file) => forbiddenImports(file, read(file)))).toEqual([]);
  });

  test('keeps what runs inside a cell apart from the source', () => {
    expect(guests.flatMap((file) => reachesIntoSource(file, read(file)))).toEqual([]);
  });

  test(`has no file over ${MAX_LINES} lines`, () => {
    const files = [...sources, ...guests, ...globSync('guest/**/*.py', { cwd: ROOT })];
    expect(files.filter((file) => read(file).trimEnd().split('\n').length > MAX_LINES)).toEqual([]);
  });

  test('has named exports only', () => {
    expect(sources.filter((file) => /^export default\b/m.test(read(file)))).toEqual([]);
  });
});

describe('the check of imports', () => {
  test.each([
    ['src/load/lock.ts', `import { a } from '../cell/jail.ts';`],
    ['src/load/lock.ts', `import type {\n  A,\n  B,\n} from '../runtime.ts';`],
    ['src/load/lock.ts', `export { a } from '../cell/jail.ts';`],
    ['src/load/lock.ts', `import '../index.ts';`],
    ['src/load/lock.ts', `const a = await import('../policy/grant.ts');`],
    ['src/load/lock.ts', `import { a } from '../../test/helper.ts';`],
    ['src/cli/run.ts', `import { a } from '../errors.ts';`],
    ['src/cli/run.ts', `import { a } from '../mcp/server.ts';`],
    ['src/cli/commands/run.ts', `import { a } from '../../../bench/runner/rounds.ts';`],
    ['src/cli/commands/bench.ts', `import { a } from '../../../attacks/runner/table.ts';`],
    ['src/cli/commands/bench.ts', `import { a } from '../../../bench/peer.ts';`],
    ['src/runtime.ts', `import { a } from './cli/main.ts';`],
    ['src/errors.ts', `import { a } from './cell/jail.ts';`],
  ])('in %s refuses %s', (file, source) => {
    expect(forbiddenImports(file, source)).toHaveLength(1);
  });

  test.each([
    ['src/cell/pool.ts', `import { a } from '../policy/grant.ts';\nimport { b } from './walls/jail.ts';`],
    ['src/cell/walls/jail.ts', `import { a } from '../../errors.ts';`],
    ['src/cli/run.ts', `import { a } from '../index.ts';\nimport { b } from './format.ts';`],
    ['src/runtime.ts', `import { a } from './audit/chain.ts';\nimport fs from 'node:fs';`],
    ['src/cli/commands/bench.ts', `import { a } from '../../../bench/runner/rounds.ts';`],
    ['src/cli/commands/mcp.ts', `import { a } from '../../mcp/serve.ts';`],
    ['src/index.ts', `export { a } from './runtime.ts';\nexport type { B } from './errors.ts';`],
    ['src/errors.ts', `import type { Outcome } from './outcome.ts';`],
  ])('in %s accepts %s', (file, source) => {
    expect(forbiddenImports(file, source)).toEqual([]);
  });

  test('sees a guest that reaches into the source', () => {
    expect(reachesIntoSource('guest/js/harness.ts', `import { a } from '../../src/errors.ts';`)).toHaveLength(
      1,
    );
    expect(reachesIntoSource('guest/js/harness.ts', `import { a } from '../frames.ts';`)).toEqual([]);
  });
});

describe('the rules of the linter for src/', () => {
  test.each([
    ['export const a = (): void => void work();'],
    ['export function a(): void {\n  return void work();\n}'],
    ['export function a(): void {\n  void work();\n}'],
  ])('refuse a promise that is thrown away: %s', (use) => {
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
