/**
 * How the command starts: on the system's Node, on one beside the package, and if neither works.
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
const NODE_PACKAGE = `node-${process.platform}-${process.arch}`;
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

/** A stub of the program, so that these tests cover only the start. */
const PROGRAM = `
export async function main(args) {
  if (args[0] === 'exit') return Number(args[1]);
  if (args[0] === 'throw') throw new Error('broken on purpose');
  if (args[0] === 'die') process.kill(process.pid, 'SIGKILL');
  if (args[0] === 'wait') {
    process.once('SIGTERM', () => process.exit(33));
    console.log(process.pid);
    await new Promise((resolve) => setTimeout(resolve, 200_000));
  }
  console.log(JSON.stringify({ args, node: process.versions.node }));
  return 0;
}`;

/** Makes the first Node believe that it is old; the Node it hands over to is not affected. */
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

function installNodeBeside(): void {
  symlinkSync(join(ROOT, 'node_modules', NODE_PACKAGE), join(folder, 'node_modules', NODE_PACKAGE));
}

function start(nodeArgs: string[], args: string[]): SpawnSyncReturns<string> {
  const { NODE_COMPILE_CACHE: _, ...rest } = process.env;
  const env = { ...rest, XDG_CACHE_HOME: join(folder, 'cache'), SKILLCELL_FETCH_NODE: 'never' };
  const command = [...nodeArgs, join(installed, 'bin/skillcell.js'), ...args];
  return spawnSync(process.execPath, command, { encoding: 'utf8', env, timeout: 200_000 });
}

/** The system's Node, not the one that npm prepends to PATH. */
function machineNode(): string[] {
  const folders = (process.env['PATH'] ?? '').split(':').filter((entry) => !entry.includes('node_modules'));
  return folders
    .map((entry) => join(entry, 'node'))
    .filter((file) => existsSync(file))
    .slice(0, 1);
}

describe('bin/skillcell in this clone', () => {
  test.each([process.execPath, ...machineNode()])('prints its version on %s', (node) => {
    const ended = spawnSync(node, [join(ROOT, 'bin/skillcell.js'), '--version'], { encoding: 'utf8' });
    expect(ended).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('bin/skillcell on a recent Node', () => {
  test('runs the program in place, with its arguments and exit code', () => {
    const ended = start([], ['a', '--b', 'c d']);
    expect(JSON.parse(ended.stdout)).toEqual({ args: ['a', '--b', 'c d'], node: process.versions.node });
    expect(start([], ['exit', '3']).status).toBe(3);
  });

  test('prefers the source to a build', () => {
    mkdirSync(join(folder, 'checkout/src/cli'), { recursive: true });
    cpSync(installed, join(folder, 'checkout'), { recursive: true });
    writeFileSync(
      join(folder, 'checkout/src/cli/main.ts'),
      'export const main = async (): Promise<number> => 42;',
    );
    expect(spawnSync(process.execPath, [join(folder, 'checkout/bin/skillcell.js')]).status).toBe(42);
  });

  test('reports a program that throws as an internal error, with exit code 70 and the reason', () => {
    const ended = start([], ['throw']);
    expect(ended.status).toBe(70);
    expect(ended.stderr).toContain('broken on purpose');
  });

  test('caches compiled code in a folder of this user that others cannot write to', () => {
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

describe('bin/skillcell started by npm', () => {
  /** A stand-in for npm: starts the command through a shell that waits, as npm does. */
  const NPM = `process.title = 'npm exec skillcell'; require('child_process').spawn('sh', ['-c', process.argv[1] + '; true'], { stdio: 'inherit' })`;

  test.each([
    { title: 'ends when npm is killed', variables: { npm_command: 'exec' }, ends: true },
    {
      title: 'ends on an old Node when npm is killed',
      variables: { npm_command: 'exec' },
      old: true,
      ends: true,
    },
    { title: 'stays when any other parent is killed', variables: {}, ends: false },
  ])('$title', async ({ variables, old: isOld, ends }) => {
    installNodeBeside();
    const old = join(folder, 'old.mjs');
    writeFileSync(old, decodeURIComponent(PRETEND_OLD.replace('data:text/javascript,', '')));
    const flags = isOld ? `--import ${old} ` : '';
    const { npm_command: _command, ...rest } = process.env;
    const command = `${process.execPath} ${flags}${join(installed, 'bin/skillcell.js')} wait`;
    const child = spawn(process.execPath, ['-e', NPM, command], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...rest, ...variables },
    });
    const [printed] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    child.kill('SIGKILL');
    const closed = once(child.stdout, 'close').then(() => true);
    const stayed = new Promise<boolean>((resolve) => void setTimeout(() => resolve(false), 2_000));
    expect(await (ends ? closed : Promise.race([closed, stayed]))).toBe(ends);
    if (!ends) process.kill(Number(printed), 'SIGTERM');
  });
});

describe('bin/skillcell on an old Node', () => {
  test('starts the Node beside the package with the same arguments and exit code', () => {
    installNodeBeside();
    const ended = start(OLD, ['a', '--b', 'c d']);
    const { args, node } = JSON.parse(ended.stdout) as { args: string[]; node: string };
    expect(args).toEqual(['a', '--b', 'c d']);
    expect(Number(node.split('.')[0])).toBeGreaterThanOrEqual(24);
    expect(start(OLD, ['exit', '4']).status).toBe(4);
  });

  test('exits with 128 plus the signal number if a signal kills the program', () => {
    installNodeBeside();
    expect(start(OLD, ['die']).status).toBe(128 + 9);
  });

  test('forwards a signal to the program', async () => {
    installNodeBeside();
    const command = [...OLD, join(installed, 'bin/skillcell.js'), 'wait'];
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([33, null]);
  });

  test('ends the program when the process that handed over is killed', async () => {
    installNodeBeside();
    const command = [...OLD, join(installed, 'bin/skillcell.js'), 'wait'];
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout.setEncoding('utf8'), 'data');
    let after = '';
    child.stdout.on('data', (text: string) => (after += text));
    child.kill('SIGKILL');
    // The program holds the other end of the pipe, so the stream closes when it has ended.
    await once(child.stdout, 'close');
    expect(after).toBe('');
  });

  test('prints one line and exits with 2 if there is no other Node and none may be fetched', () => {
    const ended = start(OLD, ['a']);
    expect(ended).toMatchObject({ status: 2, stdout: '' });
    expect(ended.stderr).toMatch(
      /^Skillcell needs Node 24 or newer\. This is Node 20\.1\.2, .*SKILLCELL_FETCH_NODE is "never"\. Install Node 24 .*\n$/,
    );
  });

  test.each([
    ['is too old itself', '20.0.0', '#!/bin/sh\nexit 5\n'],
    ['does not start here', '26.0.0', '#!/no/such/loader\n'],
  ])('does not use a Node beside the package that %s', (_, besideVersion, program) => {
    const other = join(folder, 'node_modules', NODE_PACKAGE);
    mkdirSync(join(other, 'bin'), { recursive: true });
    writeFileSync(join(other, 'package.json'), JSON.stringify({ version: besideVersion }));
    writeFileSync(join(other, 'bin/node'), program, { mode: 0o755 });
    const ended = start(OLD, ['a']);
    expect(ended).toMatchObject({ status: 2, stdout: '' });
    expect(ended.stderr.trim().split('\n')).toHaveLength(1);
  });
});
