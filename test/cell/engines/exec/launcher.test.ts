/**
 * The committed launchers are what their source gives, and do what it says.
 *
 * @module
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  BUILT_WITH,
  buildLauncher,
  compilerVersion,
  LAUNCHER_ARCHES,
} from '../../../../scripts/make-launcher.ts';
import { launcherFile } from '../../../../src/cell/engines/exec/launcher.ts';
import { noProcessFilter, seccompArch } from '../../../../src/cell/linux/seccomp/policy.ts';
import { syscallNumber } from '../../../../src/cell/linux/seccomp/syscalls.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-launcher-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const rebuilt = new Map(
  LAUNCHER_ARCHES.map((arch) => {
    const file = join(folder, arch);
    buildLauncher(arch, file);
    return [arch, file];
  }),
);
const hasSameCompiler = compilerVersion() === BUILT_WITH;

test.each(LAUNCHER_ARCHES)('the launcher for %s is built from its source', (arch) => {
  const [committed, fresh] = [launcherFile(arch), rebuilt.get(arch) ?? ''].map((file) => readFileSync(file));
  // Another compiler gives other code; the tests below then hold for what it gives.
  if (hasSameCompiler) expect(committed?.equals(fresh ?? Buffer.alloc(0))).toBe(true);
  expect(committed?.subarray(0, 4).toString('latin1')).toBe('\x7fELF');
  // e_type 2: an executable at a fixed address, which needs no loader.
  expect(committed?.readUInt16LE(16)).toBe(2);
  expect(statSync(launcherFile(arch)).size).toBeLessThan(16 * 1024);
});

test.each(LAUNCHER_ARCHES)('the system calls in its source are those of %s', (arch) => {
  const source = readFileSync(join(launcherFile(arch), '..', 'launch.c'), 'utf8');
  const guard = { x64: '__x86_64__', arm64: '__aarch64__' }[arch];
  const part = source.slice(source.indexOf(`defined(${guard})`));
  const list = /enum \{([^}]*)\}/.exec(part)?.[1] ?? '';
  const numbers = [...list.matchAll(/SYS_(\w+) = (\d+)/g)].map(
    ([, name = '', number]) => [name, Number(number)] as const,
  );
  expect(numbers.length).toBeGreaterThan(15);
  for (const [name, number] of numbers) {
    const own = name === 'exit' ? 'exit_group' : name;
    expect([name, syscallNumber(arch, own as 'read')]).toEqual([name, number]);
  }
});

describe.each([
  ['committed', launcherFile(seccompArch())],
  ['rebuilt', rebuilt.get(seccompArch()) ?? ''],
])('the %s launcher', (_, launcher) => {
  const launch = (args: string[], input = '{"a":1}\n', env: Record<string, string> = {}) =>
    spawnSync(launcher, args, {
      input,
      env: { PATH: '/usr/bin:/bin', ...env },
      encoding: 'utf8',
      timeout: 200_000,
    });

  test('becomes the program, with its arguments, variables and input', () => {
    const ended = launch(
      ['stdin', '0', '-', '/bin/sh', '-c', 'echo "$0 $A"; cat; exit 7', 'name'],
      undefined,
      { A: 'b' },
    );
    expect(ended).toMatchObject({ status: 7, stdout: 'name b\n{"a":1}\n', stderr: '' });
  });

  test('replaces a variable of the same name, and no other', () => {
    const ended = launch(['env:P', '0', '-', '/usr/bin/env'], undefined, {
      P: 'old',
      PP: 'kept',
      XP: 'kept',
    });
    const lines = ended.stdout.trim().split('\n').sort();
    expect(lines).toEqual(['P={"a":1}', 'PATH=/usr/bin:/bin', 'PP=kept', 'XP=kept']);
  });

  test('writes a file that nobody else can read, and never over an existing one', () => {
    const file = join(mkdtempSync(join(folder, 'params-')), 'in', 'p.json');
    const args = [`file:${file}`, '0', '-', '/bin/cat', file];
    expect(launch(args)).toMatchObject({ status: 0, stdout: '{"a":1}\n' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(launch(args)).toMatchObject({ status: 125, stdout: '' });
  });

  test('starts no program without a call', () => {
    expect(launch(['stdin', '0', '-', '/bin/echo', 'ran'], '')).toMatchObject({ status: 0, stdout: '' });
    expect(launch(['env:P', '0', '-', '/bin/echo', 'ran'], '')).toMatchObject({ status: 0, stdout: '' });
  });

  test('refuses parameters that do not fit into a variable', () => {
    const ended = launch(['env:P', '0', '-', '/bin/echo', 'ran'], 'x'.repeat(200_000));
    expect(ended).toMatchObject({ status: 125, stdout: '' });
    expect(ended.stderr).toContain('cannot pass parameters of this size');
  });

  test('reports a program that cannot be executed in the words of a runtime', () => {
    expect(launch(['stdin', '0', '-', '/nowhere'])).toMatchObject({
      status: 127,
      stderr: 'exec container process `/nowhere`: No such file or directory\n',
    });
  });

  test('runs nothing if its filter cannot be installed, or its arguments are incomplete', () => {
    // An instruction that no filter may have.
    expect(launch(['stdin', '0', 'ff'.repeat(8), '/bin/echo', 'ran'])).toMatchObject({
      status: 125,
      stdout: '',
    });
    expect(launch(['stdin', '0', '-'])).toMatchObject({ status: 125, stdout: '' });
  });

  test('installs a filter under which threads work and processes do not', () => {
    const filter = noProcessFilter(seccompArch()).toString('hex');
    const code = [
      'import os, threading',
      't = threading.Thread(target=lambda: print("thread", flush=True)); t.start(); t.join()',
      'try: os.fork()',
      'except PermissionError: print("no process")',
    ].join('\n');
    // Unprivileged, as a cell is: a filter needs no_new_privs then.
    const args = ['--no-new-privs', launcher, 'stdin', '0', filter, '/usr/bin/python3', '-c', code];
    const stdout = execFileSync('/usr/bin/setpriv', args, { input: '{}\n', env: {}, encoding: 'utf8' });
    expect(stdout).toBe('thread\nno process\n');
  });
});
