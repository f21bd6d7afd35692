/** The systemd units: correct for systemd, and in line with what `skillcell serve` does. */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parsePolicy } from '../../src/index.ts';
import { ROOT } from '../../scripts/steps.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { serveOptions } from './serve-options.ts';

const UNITS = ['deploy/systemd/skillcell.service', 'deploy/systemd/user/skillcell.service'];
/** After the drain: cancelled calls, and the last answers. */
const AFTER_DRAIN_SECONDS = 5 + 2;

const folder = openFolder();
afterAll(() => removeFolder(folder));

function valuesOf(unit: string, key: string): string[] {
  const lines = readFileSync(join(ROOT, unit), 'utf8').split('\n');
  return lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1));
}

/** A root folder with the programs that the unit names: what else is on this machine does not matter. */
function verify(unit: string): { status: number | null; output: string } {
  const root = join(folder, unit.replaceAll('/', '_'));
  const file = join(root, 'etc/systemd/system/skillcell.service');
  for (const program of ['usr/local/bin/skillcell', 'usr/bin/env', 'bin/sh']) {
    mkdirSync(dirname(join(root, program)), { recursive: true });
    writeFileSync(join(root, program), '');
    chmodSync(join(root, program), 0o755);
  }
  mkdirSync(dirname(file), { recursive: true });
  copyFileSync(join(ROOT, unit), file);
  const args = ['verify', '--man=no', '--recursive-errors=no', `--root=${root}`, file];
  const ended = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  return { status: ended.status, output: ended.stdout + ended.stderr };
}

describe.each(UNITS)('%s', (unit) => {
  test('is accepted by systemd', () => {
    expect(verify(unit)).toEqual({ status: 0, output: '' });
  });

  test('starts the service with options that it has', () => {
    const [start = ''] = valuesOf(unit, 'ExecStart');
    const flags = [...start.matchAll(/--[\w-]+/g)].map(([flag]) => flag);
    expect(flags.length).toBeGreaterThan(0);
    expect(flags.filter((flag) => !serveOptions().includes(flag))).toEqual([]);
  });

  test('gives running calls the time that the service gives them', () => {
    const [start = ''] = valuesOf(unit, 'ExecStart');
    const drain = Number(/--drain (\d+)s/.exec(start)?.[1]);
    const [stop] = valuesOf(unit, 'TimeoutStopSec');
    expect(Number(stop)).toBeGreaterThan(drain + AFTER_DRAIN_SECONDS);
  });

  test('delegates the control groups that limits need, and survives a cell that runs out of memory', () => {
    expect(valuesOf(unit, 'Delegate')).toEqual(['cpu memory pids']);
    expect(valuesOf(unit, 'OOMPolicy')).toEqual(['continue']);
  });

  test.each([
    'RestrictNamespaces',
    'ProtectKernelTunables',
    'ProcSubset',
    'ProtectHostname',
    'ProtectControlGroups',
    'MemoryDenyWriteExecute',
  ])('does not set %s, with which no jail or no limit works', (key) => {
    expect(valuesOf(unit, key)).toEqual([]);
  });
});

test('systemd rejects a unit that is wrong, so that the check above can fail', () => {
  const root = join(folder, 'wrong');
  const file = join(root, 'etc/systemd/system/wrong.service');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '[Service]\nType=whatever\nExecStart=/usr/bin/missing\n');
  const ended = spawnSync('systemd-analyze', ['verify', '--man=no', `--root=${root}`, file], {
    encoding: 'utf8',
  });
  expect(ended.status).not.toBe(0);
});

test('the policy to start from is one that Skillcell accepts', () => {
  const file = join(ROOT, 'deploy/systemd/policy.yaml');
  const policy = parsePolicy(readFileSync(file, 'utf8'), { file });
  expect(policy.minimum).toMatchObject({ external: 'wasm' });
});
