/**
 * The command as it starts: on the machine's Node, on the bundled one, and where neither will do.
 */
import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUNDLED_PACKAGE = `node-${process.platform}-${process.arch}`;
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

/** A stand-in for the program, so that these tests are about the start alone. */
const PROGRAM = `
export async function main(args) {
  if (args[0] === 'exit') return Number(args[1]);
  if (args[0] === 'throw') throw new Error('broken on purpose');
  if (args[0] === 'die') process.kill(process.pid, 'SIGKILL');
  if (args[0] === 'wait') {
    process.once('SIGTERM', () => process.exit(33));
    console.log('waiting');
    await new Promise((resolve) => setTimeout(resolve, 20_000));
  }
  console.log(JSON.stringify({ args, node: process.versions.node }));
  return 0;
}`;

/** Makes the Node that runs the command believe that it is old. What it hands over to is not told. */
const PRETEND_OLD = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.2' } })`;
const OLD = ['--import', PRETEND_OLD];

let folder: string;
let installed: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skillcell-bin-'));
  installed = join(folder, 'node_modules', 'skillcell');
  mkdirSync(join(installed, 'dist/src/cli'), { recursive: true });
  cpSync(join(ROOT, 'bin'), join(installed, 'bin'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(installed, 'package.json'));
  writeFileSync(join(installed, 'dist/src/cli/main.js'), PROGRAM);
});

afterEach(() => rmSync(folder, { recursive: true }));

function installBundledNode(): void {
  symlinkSync(join(ROOT, 'node_modules', BUNDLED_PACKAGE), join(folder, 'node_modules', BUNDLED_PACKAGE));
}

function start(nodeArgs: string[], args: string[]): SpawnSyncReturns<string> {
  const { NODE_COMPILE_CACHE: _, ...rest } = process.env;
  const env = { ...rest, XDG_CACHE_HOME: join(folder, 'cache') };
  const command = [...nodeArgs, join(installed, 'bin/skillcell.js'), ...args];
  return spawnSync(process.execPath, command, { encoding: 'utf8', env, timeout: 25_000 });
}

/** The Node of the machine, and not the one that npm puts before it on the path. */
function machineNode(): string[] {
  const folders = (process.env['PATH'] ?? '').split(':').filter((entry) => !entry.includes('node_modules'));
  return folders
    .map((entry) => join(entry, 'node'))
    .filter((file) => existsSync(file))
    .slice(0, 1);
}

describe('the command of this checkout', () => {
  test.each([process.execPath, ...machineNode()])('answers --version on %s', (node) => {
    const ended = spawnSync(node, [join(ROOT, 'bin/skillcell.js'), '--version'], { encoding: 'utf8' });
    expect(ended).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('on a Node that is new enough', () => {
  test('the program runs in place, with its arguments and exit code', () => {
    const ended = start([], ['a', '--b', 'c d']);
    expect(JSON.parse(ended.stdout)).toEqual({ args: ['a', '--b', 'c d'], node: process.versions.node });
    expect(start([], ['exit', '3']).status).toBe(3);
  });

  test('source is preferred to a build', () => {
    mkdirSync(join(folder, 'checkout/src/cli'), { recursive: true });
    cpSync(installed, join(folder, 'checkout'), { recursive: true });
    writeFileSync(
      join(folder, 'checkout/src/cli/main.ts'),
      'export const main = async (): Promise<number> => 42;',
    );
    expect(spawnSync(process.execPath, [join(folder, 'checkout/bin/skillcell.js')]).status).toBe(42);
  });

  test('a program that throws is our fault: exit 70 and the reason', () => {
    const ended = start([], ['throw']);
    expect(ended.status).toBe(70);
    expect(ended.stderr).toContain('broken on purpose');
  });

  test('compiled code goes to a folder of this user, and not to one that others can write', () => {
    start([], []);
    expect(existsSync(join(folder, 'cache/skillcell/compiled'))).toBe(true);
    const entries = (): number =>
      spawnSync('find', [join(folder, 'cache'), '-type', 'f'])
        .stdout.toString()
        .split('\n').length;
    expect(entries()).toBeGreaterThan(1);

    rmSync(join(folder, 'cache'), { recursive: true });
    mkdirSync(join(folder, 'cache/skillcell'), { recursive: true });
    spawnSync('chmod', ['0777', join(folder, 'cache/skillcell')]);
    expect(start([], []).status).toBe(0);
    expect(entries()).toBe(1);
  });
});

describe('on a Node that is too old', () => {
  test('the bundled Node takes over, with arguments and exit code', () => {
    installBundledNode();
    const ended = start(OLD, ['a', '--b', 'c d']);
    const { args, node } = JSON.parse(ended.stdout) as { args: string[]; node: string };
    expect(args).toEqual(['a', '--b', 'c d']);
    expect(Number(node.split('.')[0])).toBeGreaterThanOrEqual(24);
    expect(start(OLD, ['exit', '4']).status).toBe(4);
  });

  test('a death by signal becomes 128 and the signal', () => {
    installBundledNode();
    expect(start(OLD, ['die']).status).toBe(128 + 9);
  });

  test('a signal reaches the program', async () => {
    installBundledNode();
    const command = [...OLD, join(installed, 'bin/skillcell.js'), 'wait'];
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([33, null]);
  });

  test('no bundled Node: one sentence and exit 2', () => {
    const ended = start(OLD, ['a']);
    expect(ended).toMatchObject({ status: 2, stdout: '' });
    expect(ended.stderr).toMatch(/^Skillcell needs Node 24 or newer, but this is Node 20\.1\.2 and .*\.\n$/);
  });

  test.each([
    ['is too old itself', '20.0.0', '#!/bin/sh\nexit 5\n'],
    ['does not start here', '26.0.0', '#!/no/such/loader\n'],
  ])('a bundled Node that %s is none', (_, bundledVersion, program) => {
    const other = join(folder, 'node_modules', BUNDLED_PACKAGE);
    mkdirSync(join(other, 'bin'), { recursive: true });
    writeFileSync(join(other, 'package.json'), JSON.stringify({ version: bundledVersion }));
    writeFileSync(join(other, 'bin/node'), program, { mode: 0o755 });
    const ended = start(OLD, ['a']);
    expect(ended).toMatchObject({ status: 2, stdout: '' });
    expect(ended.stderr.trim().split('\n')).toHaveLength(1);
  });
});
