/**
 * Tests v2 without a delegated memory controller: which files are written and how they are read, on plain directories. The
 * kernel's reaction is not covered.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { examineCgroups } from '../../../../src/cell/linux/cgroup/cgroup.ts';
import { createV2Driver } from '../../../../src/cell/linux/cgroup/v2.ts';

let top = '';

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'cgroup2-test-'));
});
afterEach(() => rmSync(top, { recursive: true }));

function fakeGroup(directory: string, files: Record<string, string>): string {
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

const read = (...path: string[]): string => readFileSync(join(...path), 'utf8');

describe('the v2 driver on plain directories (formats only)', () => {
  it('writes the limits and delegates the controllers from its own parent', () => {
    fakeGroup(top, { 'cgroup.subtree_control': 'cpu memory pids\n' });
    const driver = createV2Driver(top);
    expect(driver).toMatchObject({ version: 2, describe: 'cgroup v2 (memory, pids)', limitsPids: true });
    driver.create('cell', { memory: 1048576, pids: 5 });
    const [parent = ''] = driver.directories;
    expect(read(parent, 'cgroup.subtree_control')).toBe('+memory +pids');
    expect(read(parent, 'cell', 'memory.max')).toBe('1048576');
    expect(read(parent, 'cell', 'pids.max')).toBe('5');
  });

  it('refuses a pids limit if the pids controller is not delegated', () => {
    fakeGroup(top, { 'cgroup.subtree_control': 'memory\n' });
    const driver = createV2Driver(top);
    expect(driver.limitsPids).toBe(false);
    expect(() => driver.create('cell', { memory: 1, pids: 5 })).toThrow(/pids controller is not delegated/);
    driver.create('cell', { memory: 4096 });
    expect(read(driver.directories[0] ?? '', 'cgroup.subtree_control')).toBe('+memory');
  });

  it('reads usage, members and OOM kills', () => {
    fakeGroup(top, { 'cgroup.subtree_control': 'memory\n' });
    const driver = createV2Driver(top);
    const group = driver.create('cell', { memory: 4096 });
    expect(group.usage()).toEqual({ cpuMs: 0, memoryPeakBytes: 0 });
    expect(group.oomKilled()).toBe(false);
    const directory = join(driver.directories[0] ?? '', 'cell');
    fakeGroup(directory, { 'memory.current': '4096\n', 'cpu.stat': 'usage_usec 12500\nuser_usec 9000\n' });
    expect(group.usage()).toEqual({ cpuMs: 12.5, memoryPeakBytes: 4096 });
    fakeGroup(directory, { 'memory.peak': '8192\n', 'cgroup.procs': '0\n12\n34\n' });
    expect(group.usage().memoryPeakBytes).toBe(8192);
    expect(group.members()).toEqual([12, 34]);
    fakeGroup(directory, { 'memory.events': 'low 0\noom 1\noom_kill 0\noom_group_kill 0\n' });
    expect(group.oomKilled()).toBe(false);
    fakeGroup(directory, { 'memory.events': 'low 0\noom 1\noom_kill 2\noom_group_kill 0\n' });
    expect(group.oomKilled()).toBe(true);
  });

  it('attaches by pid and kills through cgroup.kill', async () => {
    fakeGroup(top, { 'cgroup.subtree_control': 'memory\n' });
    const driver = createV2Driver(top);
    const group = driver.create('cell', { memory: 4096 });
    const directory = fakeGroup(join(driver.directories[0] ?? '', 'cell'), { 'cgroup.kill': '' });
    await group.attach(process.pid);
    expect(read(directory, 'cgroup.procs')).toBe(String(process.pid));
    // Members are also killed one by one, but never the host itself.
    group.kill();
    expect(read(directory, 'cgroup.kill')).toBe('1');
  });
});

describe('probing v2 on plain directories', () => {
  const reasonFor = (own: string): string =>
    JSON.stringify(examineCgroups({ v1: new Map(), v2: { own, top } }));

  it('fails without the memory controller', () => {
    const own = fakeGroup(join(top, 'own'), { 'cgroup.controllers': 'hugetlb\n' });
    expect(reasonFor(own)).toContain('has no memory controller');
  });

  it('reports a group that cannot delegate the controller', () => {
    const own = fakeGroup(join(top, 'own'), { 'cgroup.controllers': 'memory\n' });
    mkdirSync(join(own, 'cgroup.subtree_control'));
    expect(reasonFor(own)).toContain('cannot delegate the memory controller');
  });

  it('uses the parent of its own group if that delegates the controller', () => {
    fakeGroup(top, { 'cgroup.subtree_control': 'memory\n', 'cgroup.procs': '' });
    const own = fakeGroup(join(top, 'own'), { 'cgroup.controllers': 'memory\n' });
    mkdirSync(join(own, 'cgroup.subtree_control'));
    // Unlike groups, plain directories with files cannot be removed, so the trial fails at its end.
    expect(reasonFor(own)).toMatch(
      new RegExp(`trial group \\\\"${top}/skillcell-[^/]+/trial\\\\" could not be removed`),
    );
  });

  it('fails without permission to move processes', () => {
    const own = fakeGroup(join(top, 'own'), {
      'cgroup.controllers': 'memory\n',
      'cgroup.subtree_control': 'memory',
    });
    expect(reasonFor(own)).toContain('Processes cannot be moved below');
  });
});
