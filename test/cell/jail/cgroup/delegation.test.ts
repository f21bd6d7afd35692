/** Scopes that systemd hands over to a command. The tree is one of plain files: who may do what in a real one is the kernel's. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { examineCgroups } from '../../../../src/cell/jail/cgroup/cgroup.ts';
import { isScopeOfOurs, stepDown, wayToGroups } from '../../../../src/cell/jail/cgroup/delegation.ts';
import { openFolder, removeFolder } from '../../../write-skill.ts';

const folder = openFolder();
afterAll(() => removeFolder(folder));

/** A scope with a process in it, which hands controllers down only once there is a group below it. */
function makeScope(name: string): string {
  const scope = join(folder, name);
  mkdirSync(scope, { recursive: true });
  writeFileSync(join(scope, 'cgroup.procs'), '4242\n');
  writeFileSync(join(scope, 'cgroup.controllers'), 'cpu memory pids\n');
  writeFileSync(join(scope, 'control'), '');
  symlinkSync('skillcell-host/../control', join(scope, 'cgroup.subtree_control'));
  return scope;
}

describe('a scope of the user', () => {
  it('is ours when systemd-run made it for a command and it can be written, and left alone otherwise', () => {
    const scope = makeScope('run-r1.scope');
    expect(isScopeOfOurs(scope)).toBe(false);
    mkdirSync(join(scope, 'skillcell-host'));
    expect(isScopeOfOurs(scope)).toBe(true);
    const terminal = makeScope('vte-spawn-1.scope');
    mkdirSync(join(terminal, 'skillcell-host'));
    expect(isScopeOfOurs(terminal)).toBe(false);
    expect(isScopeOfOurs(join(folder, 'run-missing.scope'))).toBe(false);
  });

  it('has its processes moved into a group below it', () => {
    const scope = makeScope('run-r2.scope');
    expect(stepDown(scope)).toBe(true);
    expect(readFileSync(join(scope, 'skillcell-host', 'cgroup.procs'), 'utf8')).toBe('4242');
    expect(stepDown(join(folder, 'run-missing.scope'))).toBe(false);
  });

  it('of another kind is not changed by looking for control groups', () => {
    const scope = makeScope('session-3.scope');
    const found = examineCgroups({ v1: new Map(), v2: { own: scope, top: folder } });
    expect(found.driver).toBeUndefined();
    expect(found).toMatchObject({
      reason: expect.stringContaining('cannot hand the memory controller down'),
    });
    expect(readFileSync(join(scope, 'cgroup.procs'), 'utf8')).toBe('4242\n');
  });
});

describe('the way to control groups', () => {
  it('is one command where systemd looks after the user, and an administrator elsewhere', () => {
    expect(wayToGroups(true)).toContain('`systemd-run --user --scope -p Delegate=yes`');
    expect(wayToGroups(false)).toContain('administrator');
  });
});
