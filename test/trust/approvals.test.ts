import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bundle } from '../../src/load/bundle.ts';
import type { Manifest } from '../../src/manifest/manifest.ts';
import { Approvals } from '../../src/trust/approvals.ts';
import { exampleManifest } from '../policy/example-manifest.ts';
import { openFolder, removeFolder } from '../write-skill.ts';

let home: string;
let approvals: Approvals;

beforeEach(() => {
  home = openFolder();
  approvals = new Approvals(home);
});
afterEach(() => removeFolder(home));

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;

function bundle(over: Partial<Manifest> = {}, letter = 'a'): Bundle {
  return {
    manifest: exampleManifest(over),
    origin: 'external',
    sourceDir: '',
    stagedDir: '',
    files: {},
    digest: digest(letter),
    kind: 'function',
    lock: 'unlocked',
    entry: 'skill.py',
    inspection: { modules: [], interfaces: [], env: [], hosts: [], unparsed: [] },
    warnings: [],
  };
}

const networked = { filesystem: [], network: [{ host: 'example.org' }], syscalls: 'default' as const };

describe('an approval', () => {
  it('covers exactly the bundle that was shown', () => {
    expect(approvals.stateOf(bundle())).toEqual({ kind: 'none' });
    approvals.add(bundle(), 'alice');
    expect(approvals.stateOf(bundle())).toMatchObject({ kind: 'approved', approval: { by: 'alice' } });
    expect(new Approvals(home).stateOf(bundle()).kind).toBe('approved');
  });

  it('ends if the lock pins another image', () => {
    const first = { ...bundle(), image: digest('1') };
    const second = { ...bundle(), image: digest('2') };
    approvals.add(first, 'alice');
    expect(approvals.stateOf(first).kind).toBe('approved');
    expect(approvals.stateOf(second)).toMatchObject({
      kind: 'changed',
      diff: [`+ container digest ${digest('2')}`, `- container digest ${digest('1')}`],
    });
    expect(approvals.stateOf(bundle()).kind).toBe('changed');
  });

  it('ends with any change to the files', () => {
    approvals.add(bundle(), 'alice');
    expect(approvals.stateOf(bundle({}, 'b'))).toMatchObject({ kind: 'changed', diff: [] });
  });

  it('ends with any change to the capabilities, and the report names the change', () => {
    approvals.add(bundle(), 'alice');
    expect(approvals.stateOf(bundle({ capabilities: networked }))).toMatchObject({
      kind: 'changed',
      diff: ['+ network example.org'],
    });
  });

  it('coexists with that of another version, which stays valid', () => {
    approvals.add(bundle(), 'alice');
    approvals.add(bundle({ capabilities: networked }, 'b'), 'bob');
    expect(approvals.stateOf(bundle()).kind).toBe('approved');
    expect(approvals.stateOf(bundle({ capabilities: networked }, 'b')).kind).toBe('approved');
  });

  it('can be revoked', () => {
    approvals.add(bundle(), 'alice');
    approvals.add(bundle({}, 'b'), 'alice');
    expect(approvals.remove('test/example')).toBe(2);
    expect(approvals.stateOf(bundle())).toEqual({ kind: 'none' });
    expect(approvals.remove('test/example')).toBe(0);
  });

  it('for another name has no effect', () => {
    approvals.add(bundle({ name: 'test/other' }), 'alice');
    expect(approvals.remove('test/example')).toBe(0);
    expect(approvals.ofSkill('test/other')).toHaveLength(1);
  });

  it.each([
    ['invalid JSON', 'x'],
    ['another shape', '{"skill":"test/example"}'],
    [
      'an invalid digest',
      JSON.stringify({ skill: 'test/example', digest: 'x', capabilities: [], by: '', at: '' }),
    ],
  ])('that cannot be read (%s) approves nothing', (_, text) => {
    approvals.add(bundle(), 'alice');
    const [file = ''] = readdirSync(join(home, 'approvals'));
    writeFileSync(join(home, 'approvals', file), text);
    expect(approvals.stateOf(bundle())).toEqual({ kind: 'none' });
  });

  it('that is moved to the file of another bundle does not approve that bundle', () => {
    approvals.add(bundle({}, 'b'), 'alice');
    const [theirs = ''] = readdirSync(join(home, 'approvals'));
    const other = new Approvals(join(home, 'other'));
    other.add(bundle(), 'alice');
    const [ours = ''] = readdirSync(join(home, 'other', 'approvals'));
    mkdirSync(join(home, 'third', 'approvals'), { recursive: true });
    const text = JSON.stringify(approvals.list()[0]);
    writeFileSync(join(home, 'third', 'approvals', ours), text);
    expect(theirs).not.toBe(ours);
    expect(new Approvals(join(home, 'third')).stateOf(bundle()).kind).not.toBe('approved');
  });
});
