import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SkillError } from '../../src/errors.ts';
import { findSkill, findSkills } from '../../src/load/locate.ts';
import type { SkillPlaces } from '../../src/load/locate.ts';
import { errorOf, tempWorld, writeTree } from './helpers.ts';

/** Folders with a skill in each registry, and one outside all registries. */
function world(): { root: string; places: SkillPlaces } {
  return tempWorld({
    'package/skills/finance/screening/manifest.yaml': '',
    'project/skills/office/invoices/manifest.yaml': '',
    'project/skills/pdf/SKILL.md': '',
    'project/skills/office/no_skill/readme.txt': '',
    'project/skills/office/other_case/manifest.yml': '',
    'home/installed/web/fetch/SKILL.md': '',
    'elsewhere/tool/manifest.yaml': '',
    'elsewhere/tool/skill.py': '',
  });
}

describe('a machine without file descriptors', () => {
  test('gets an error, not an empty list of skills', () => {
    const { places } = world();
    expect(findSkills(places).length).toBe(4);
    const script = join(import.meta.dirname, 'starved-locate.ts');
    const run = spawnSync(
      '/usr/bin/prlimit',
      ['--nofile=256', process.execPath, script, JSON.stringify(places)],
      { encoding: 'utf8' },
    );
    expect(run.stdout.trim()).toBe('EMFILE: internal');
    expect(run.status).toBe(0);
  });
});

describe('findSkill', () => {
  test.each([
    ['finance/screening', 'package/skills/finance/screening'],
    ['office/invoices', 'project/skills/office/invoices'],
    ['pdf', 'project/skills/pdf'],
    ['web/fetch', 'home/installed/web/fetch'],
    ['skills/office/invoices', 'project/skills/office/invoices'],
    ['./skills/office/invoices/', 'project/skills/office/invoices'],
    ['skills/office/invoices/manifest.yaml', 'project/skills/office/invoices'],
    ['../home/installed/web/fetch/SKILL.md', 'home/installed/web/fetch'],
    ['../elsewhere/tool', 'elsewhere/tool'],
  ])('finds %s', (ref, dir) => {
    const { root, places } = world();
    expect(findSkill(ref, places)).toMatchObject({ ref, dir: join(root, dir) });
  });

  test('finds a skill by its absolute path and through a link, by its real path', () => {
    const { root, places } = world();
    const dir = join(root, 'elsewhere/tool');
    symlinkSync(dir, join(root, 'project/skills/office/linked'));
    expect(findSkill(dir, places).dir).toBe(dir);
    expect(findSkill('office/linked', places).dir).toBe(dir);
  });

  test.each([
    ['by its real path', (root: string) => join(root, 'elsewhere/tool')],
    ['by the path of the link', (root: string) => join(root, 'project/skills/office/linked')],
    ['by its manifest', () => './skills/office/linked/manifest.yaml'],
    ['by a detour', () => 'skills/../skills/office/linked'],
  ])('reports the id of a link that leads elsewhere if called %s', (_, ref) => {
    const { root, places } = world();
    symlinkSync(join(root, 'elsewhere/tool'), join(root, 'project/skills/office/linked'));
    expect(findSkill(ref(root), places)).toMatchObject({ ids: [], aliases: ['office/linked'] });
  });

  test('refuses an id of two different skills, names both, and how to remove the installed one', () => {
    const { root, places } = world();
    writeTree(root, { 'home/installed/office/invoices/manifest.yaml': 'name: another' });
    const error = errorOf(() => findSkill('office/invoices', places));
    expect(error.code).toBe('usage');
    const dirs = ['project/skills/office/invoices', 'home/installed/office/invoices'].map((dir) =>
      join(root, dir),
    );
    expect(error.detail['dirs']).toEqual(dirs);
    for (const dir of dirs) expect(error.message).toContain(JSON.stringify(dir));
    expect(error.fix).toContain('`skillcell uninstall office/invoices`');
  });

  test('treats the same bundle in the project and among the installed skills as the project’s', () => {
    const { root, places } = world();
    writeTree(root, { 'home/installed/office/invoices/manifest.yaml': '' });
    writeTree(root, { 'home/installed/office/invoices/skill.lock': 'not part of the digest' });
    const dir = join(root, 'project/skills/office/invoices');
    expect(findSkill('office/invoices', places).dir).toBe(dir);
    expect(findSkills(places).filter(({ ref }) => ref === 'office/invoices')).toMatchObject([{ dir }]);
  });

  test('refuses an id that is also another folder here, but accepts its explicit path', () => {
    const { root, places } = world();
    writeTree(root, { 'project/office/invoices/manifest.yaml': 'name: another' });
    const error = errorOf(() => findSkill('office/invoices', places));
    expect(error.code).toBe('usage');
    expect(error.fix).not.toContain('uninstall');
    expect(findSkill('./office/invoices', places).dir).toBe(join(root, 'project/office/invoices'));
  });

  test.each([
    'project/skills/finance/screening',
    'home/installed/finance/screening',
    'project/finance/screening',
  ])('prefers the skill in %s to the bundled one, and says so', (place) => {
    const { root, places } = world();
    writeTree(root, { [`${place}/manifest.yaml`]: 'name: another' });
    const bundledDir = join(root, 'package/skills/finance/screening');
    expect(findSkill('finance/screening', places)).toMatchObject({
      dir: join(root, place),
      shadows: bundledDir,
    });
    expect(findSkill('bundled:finance/screening', places)).toMatchObject({
      dir: bundledDir,
      ids: ['finance/screening'],
    });
  });

  test('refuses a link to another folder under the id of a bundled skill', () => {
    const { root, places } = world();
    mkdirSync(join(root, 'project/skills/finance'));
    symlinkSync(join(root, 'elsewhere/tool'), join(root, 'project/skills/finance/screening'));
    expect(errorOf(() => findSkill('finance/screening', places)).code).toBe('usage');
    const listed = findSkills(places).filter(({ ref }) => ref === 'finance/screening');
    expect(listed.map(({ shadows }) => shadows)).toEqual([undefined, undefined]);
  });

  test('says nothing about a bundled skill that is the same', () => {
    const { root, places } = world();
    writeTree(root, { 'project/skills/finance/screening/manifest.yaml': '' });
    const found = findSkill('finance/screening', places);
    expect(found.dir).toBe(join(root, 'project/skills/finance/screening'));
    expect(found.shadows).toBeUndefined();
  });

  test.each([
    ['bundled:office/invoices', ''],
    ['bundled:../home/installed/web/fetch', ''],
    ['bundled:', ''],
    ['bundled:finance/screenin', 'Did you mean "bundled:finance/screening"?'],
  ])('finds only bundled skills under %j', (ref, fix) => {
    const error = errorOf(() => findSkill(ref, world().places));
    expect(error.code).toBe('skill_unavailable');
    expect(error.fix).toContain(fix);
  });

  test('treats the same folder in two registries as one', () => {
    const { root, places } = world();
    const same = { ...places, bundledDir: join(root, 'project/skills') };
    symlinkSync(join(root, 'project/skills/office'), join(root, 'home/installed/office'));
    expect(findSkill('office/invoices', same).dir).toBe(join(root, 'project/skills/office/invoices'));
  });

  test('suggests the skill that was probably meant', () => {
    const { places } = world();
    for (const typed of ['finance/screenin', 'screening', 'finanse/screening']) {
      const error = errorOf(() => findSkill(typed, places));
      expect(error.code).toBe('skill_unavailable');
      expect(error.fix).toBe('Did you mean "finance/screening"?');
    }
    expect(errorOf(() => findSkill('zzz/qqq', places)).fix).toContain('skillcell list');
  });

  test.each([
    ['skills/office/no_skill', 'manifest_invalid'],
    ['skills/office/other_case', 'manifest_invalid'],
    ['../elsewhere/tool/skill.py', 'usage'],
    ['', 'usage'],
    ['a\0b', 'usage'],
    ['/missing', 'skill_unavailable'],
    ['../../missing/x', 'skill_unavailable'],
  ])('refuses %j with %s', (ref, code) => {
    const { places } = world();
    expect(errorOf(() => findSkill(ref, places)).code).toBe(code);
  });

  test('never resolves an id outside its registry, whatever is typed', () => {
    const { root, places } = world();
    const part = fc.constantFrom('..', '.', '', 'web', 'fetch', 'tool', 'elsewhere', '%2e%2e', '~');
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const ref = parts.join('/');
        try {
          const { dir } = findSkill(ref, places);
          // The result is the folder that the path names, or the one skill with that id.
          expect(
            [join(root, 'project', ref), join(root, 'home/installed', ref)].map((path) =>
              path.replace(/\/$/, ''),
            ),
          ).toContain(dir);
        } catch (error) {
          expect(error).toBeInstanceOf(SkillError);
        }
      }),
    );
  });
});

describe('findSkills', () => {
  test('lists every bundle folder once, sorted', () => {
    const { root, places } = world();
    symlinkSync(join(root, 'project/skills/pdf'), join(root, 'project/skills/pdf_again'));
    mkdirSync(join(root, 'project/skills/empty'));
    expect(findSkills(places).map((skill) => skill.ref)).toEqual([
      'finance/screening',
      'office/invoices',
      'pdf',
      'web/fetch',
    ]);
  });

  test('lists both of two skills with the same id', () => {
    const { root, places } = world();
    writeTree(root, { 'home/installed/pdf/manifest.yaml': 'name: another' });
    expect(findSkills(places).filter((skill) => skill.ref === 'pdf')).toHaveLength(2);
  });

  test('lists a bundled skill that gives way to another as bundled:<id>', () => {
    const { root, places } = world();
    writeTree(root, { 'home/installed/finance/screening/manifest.yaml': 'name: another' });
    const found = findSkills(places).filter(({ ref }) => ref.endsWith('finance/screening'));
    expect(found).toMatchObject([
      { ref: 'bundled:finance/screening', dir: join(root, 'package/skills/finance/screening') },
      { ref: 'finance/screening', shadows: join(root, 'package/skills/finance/screening') },
    ]);
  });

  test('returns an empty list if no registry exists', () => {
    expect(
      findSkills({ bundledDir: '/nonexistent/a', home: '/nonexistent/b', cwd: '/nonexistent/c' }),
    ).toEqual([]);
  });
});
