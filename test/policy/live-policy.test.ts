/**
 * A policy that follows its files while a service runs.
 */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { livePolicy, trustPolicy } from '../../src/policy/in-force.ts';
import { LivePolicy } from '../../src/policy/live-policy.ts';
import { rulesOf } from '../../src/policy/combine.ts';
import { openFolder, removeFolder } from '../write-skill.ts';

const MIB = 1024 * 1024;
let folder: string;
let file: string;
let notes: string[];

beforeEach(() => {
  folder = openFolder();
  file = join(folder, 'policy.yaml');
  notes = [];
});
afterEach(() => removeFolder(folder));

function open(text: string): LivePolicy {
  writeFileSync(file, text);
  return livePolicy({ folder, home: join(folder, 'home') }, file, (note) => notes.push(note));
}

describe('a policy that changes while a service runs', () => {
  test('takes away at once and says so', () => {
    const live = open('ceilings: { memory: 64MiB }');
    const before = live.current();
    expect(live.current()).toBe(before);
    writeFileSync(file, 'ceilings: { memory: 32MiB }\nskills: [{ match: "a/*", decision: deny }]\n');
    expect(live.current().ceilings.memory).toBe(32 * MIB);
    expect(rulesOf(live.current())[0]?.skills[0]).toMatchObject({ match: 'a/*', decision: 'deny' });
    expect(live.status).toEqual({ state: 'current', waiting: [] });
    expect(notes).toEqual(['The policy changed and is in force.']);
  });

  test('adds only after a reload, but takes away what the same edit takes away', () => {
    const live = open('ceilings: { memory: 64MiB, timeout: 10s }');
    writeFileSync(file, 'ceilings: { memory: 128MiB, timeout: 5s }');
    expect(live.current().ceilings).toMatchObject({ memory: 64 * MIB, timeout: 5000 });
    expect(live.status).toEqual({ state: 'waiting', waiting: ['ceilings'] });
    expect(notes.at(-1)).toContain('waits for SIGHUP or a restart: ceilings');
    expect(live.reload()).toBe(true);
    expect(live.current().ceilings).toMatchObject({ memory: 128 * MIB, timeout: 5000 });
    expect(live.status.state).toBe('current');
  });

  test('returns to what the operator put in force, and not beyond', () => {
    const live = open('ceilings: { memory: 64MiB }');
    writeFileSync(file, 'ceilings: { memory: 16MiB }');
    expect(live.current().ceilings.memory).toBe(16 * MIB);
    writeFileSync(file, 'ceilings: { memory: 1GiB }');
    expect(live.current().ceilings.memory).toBe(64 * MIB);
  });

  test('counts a removed key with its default, and a removed rule as still there', () => {
    const live = open('ceilings: { memory: 4GiB }\nskills: [{ match: "a/*", decision: deny }]\n');
    const { memory } = live.current().ceilings;
    writeFileSync(file, '');
    expect(live.current().ceilings.memory).toBeLessThan(memory);
    expect(rulesOf(live.current())[0]?.skills[0]).toMatchObject({ decision: 'deny' });
    expect(live.status.waiting).toContain('skills and publishers');
  });

  test.each([
    ['broken YAML', 'skills: [', 'Cannot read the policy'],
    ['an unknown key', 'skils: []', 'skils'],
    ['a wrong value', 'ceilings: { memory: much }', 'ceilings.memory'],
  ])('keeps the policy in force with %s, also on a reload', (_, text, said) => {
    const live = open('ceilings: { memory: 64MiB }');
    const before = live.current();
    writeFileSync(file, text);
    expect(live.current()).toBe(before);
    expect(live.reload()).toBe(false);
    expect(live.current()).toBe(before);
    expect(live.status).toMatchObject({ state: 'broken', problem: expect.stringContaining(said) as string });
    expect(notes.at(-1)).toContain('What was in force stays in force');
    writeFileSync(file, 'ceilings: { memory: 32MiB }');
    expect(live.current().ceilings.memory).toBe(32 * MIB);
    expect(notes.at(-1)).toBe('The policy is valid again and is in force.');
  });

  test('keeps what was in force if the named file is removed', () => {
    const live = open('ceilings: { memory: 64MiB }');
    rmSync(file);
    expect(live.current().ceilings.memory).toBe(64 * MIB);
    expect(live.status.state).toBe('broken');
  });

  test('keeps what was in force if no file can be read at all', () => {
    const fail = (): never => {
      throw new Error('EMFILE');
    };
    let isFailing = false;
    const live = new LivePolicy({
      read: () => (isFailing ? fail() : undefined),
      readUsable: fail,
      watched: [file],
    });
    const before = live.current();
    isFailing = true;
    writeFileSync(file, '');
    expect(live.current()).toBe(before);
    expect(live.status).toMatchObject({ state: 'broken' });
  });

  test('never starts with a broken policy', () => {
    expect(() => open('skils: []')).toThrow('skils');
  });

  test('notices a link that points to another file', () => {
    const target = (name: string, text: string): void => writeFileSync(join(folder, name), text);
    target('one', 'ceilings: { memory: 64MiB }');
    target('two', 'ceilings: { memory: 32MiB }');
    symlinkSync('one', file);
    const live = livePolicy({ folder, home: folder }, file);
    symlinkSync('two', join(folder, 'next'));
    renameSync(join(folder, 'next'), file);
    expect(live.current().ceilings.memory).toBe(32 * MIB);
  });
});

describe('policies that are found and not named', () => {
  test('notices a file that appears in the folder or above it', () => {
    const inner = join(folder, 'project');
    mkdirSync(inner);
    const live = livePolicy({ folder: inner, home: join(folder, 'home') }, undefined);
    writeFileSync(join(inner, 'skillcell.policy.yaml'), 'ceilings: { memory: 64MiB }');
    expect(live.current().ceilings.memory).toBe(64 * MIB);
    writeFileSync(join(folder, 'skillcell.policy.yaml'), 'ceilings: { memory: 16MiB }');
    expect(live.current().ceilings.memory).toBe(16 * MIB);
  });

  test('takes away what one file says while another is broken', () => {
    const inner = join(folder, 'project');
    mkdirSync(inner);
    const [outer, own] = [folder, inner].map((one) => join(one, 'skillcell.policy.yaml')) as [string, string];
    writeFileSync(outer, 'ceilings: { memory: 64MiB }');
    writeFileSync(own, 'skills: [{ match: "a/*", decision: deny }]');
    const live = livePolicy({ folder: inner, home: join(folder, 'home') }, undefined);
    writeFileSync(own, 'skills: [');
    writeFileSync(outer, 'ceilings: { memory: 16MiB }');
    expect(live.current().ceilings.memory).toBe(16 * MIB);
    expect(rulesOf(live.current())[0]?.skills[0]).toMatchObject({ decision: 'deny' });
    expect(live.status.state).toBe('broken');
  });

  test('refuses a file that widens and is not trusted, also on a reload', () => {
    const home = join(folder, 'home');
    const found = join(folder, 'skillcell.policy.yaml');
    const live = livePolicy({ folder, home }, undefined, (note) => notes.push(note));
    const { memory } = live.current().ceilings;
    writeFileSync(found, 'ceilings: { memory: 64GiB }');
    expect(live.reload()).toBe(false);
    expect(live.current().ceilings.memory).toBe(memory);
    expect(notes.at(-1)).toContain('not trusted');
    trustPolicy(found, home);
    expect(live.current().ceilings.memory).toBe(memory);
    expect(live.status).toMatchObject({ state: 'waiting', waiting: ['ceilings'] });
    expect(live.reload()).toBe(true);
    expect(live.current().ceilings.memory).toBe(64 * 1024 * MIB);
  });
});
