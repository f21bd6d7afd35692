/** Scopes that systemd delegates to a command. Uses plain files, so the kernel's permission checks are not tested. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { examineCgroups } from '../../../../src/cell/linux/cgroup/cgroup.ts';
import { isOwnScope, moveToLeaf, cgroupFix } from '../../../../src/cell/linux/cgroup/delegation.ts';
import { openFolder, removeFolder } from '../../../write-skill.ts';

const folder = openFolder();
afterAll(() => removeFolder(folder));

/** A scope with a process, which delegates controllers only after a child group was created. */
function makeScope(name: string): string {
  const scope = join(folder, name);
  mkdirSync(scope, { recursive: true });
  writeFileSync(join(scope, 'cgroup.procs'), '4242\n');
  writeFileSync(join(scope, 'cgroup.controllers'), 'cpu memory pids\n');
  writeFileSync(join(scope, 'control'), '');
  symlinkSync('skillcell-host/../control', join(scope, 'cgroup.subtree_control'));
  return scope;
}

describe('a user scope', () => {
  it('is ours only if systemd-run created it for a command and it is writable', () => {
    const scope = makeScope('run-r1.scope');
    expect(isOwnScope(scope)).toBe(false);
    mkdirSync(join(scope, 'skillcell-host'));
    expect(isOwnScope(scope)).toBe(true);
    const terminal = makeScope('vte-spawn-1.scope');
    mkdirSync(join(terminal, 'skillcell-host'));
    expect(isOwnScope(terminal)).toBe(false);
    expect(isOwnScope(join(folder, 'run-missing.scope'))).toBe(false);
  });

  it.each([
    ['skillcell.service', true],
    ['skillcell@one.service', true],
    ['ssh.service', false],
    ['skillcells.service', false],
  ])('may also be the group of our unit: %s', (name, isOurs) => {
    const group = makeScope(name);
    mkdirSync(join(group, 'skillcell-host'));
    expect(isOwnScope(group)).toBe(isOurs);
  });

  it('has its processes moved into a group below it', () => {
    const scope = makeScope('run-r2.scope');
    expect(moveToLeaf(scope)).toBe(true);
    expect(readFileSync(join(scope, 'skillcell-host', 'cgroup.procs'), 'utf8')).toBe('4242');
    expect(moveToLeaf(join(folder, 'run-missing.scope'))).toBe(false);
  });

  it('of another kind is not changed by probing', () => {
    const scope = makeScope('session-3.scope');
    const found = examineCgroups({ v1: new Map(), v2: { own: scope, top: folder } });
    expect(found.driver).toBeUndefined();
    expect(found).toMatchObject({
      reason: expect.stringContaining('cannot delegate the memory controller'),
    });
    expect(readFileSync(join(scope, 'cgroup.procs'), 'utf8')).toBe('4242\n');
  });
});

describe('the fix for missing control groups', () => {
  it('is one command with a systemd user manager, and otherwise an administrator', () => {
    expect(cgroupFix(true)).toContain('`systemd-run --user --scope -p Delegate=yes`');
    expect(cgroupFix(false)).toContain('administrator');
  });
});
