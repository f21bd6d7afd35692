import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SkillError } from '../../src/errors.ts';
import { findSkill, findSkills } from '../../src/load/locate.ts';
import type { SkillPlaces } from '../../src/load/locate.ts';
import { errorOf, tempTree, writeTree } from './helpers.ts';

/** A world with a skill in each registry, and one outside of them all. */
function world(): { root: string; places: SkillPlaces } {
  const root = tempTree({
    'package/skills/finance/screening/manifest.yaml': '',
    'project/skills/office/invoices/manifest.yaml': '',
    'project/skills/pdf/SKILL.md': '',
    'project/skills/office/no_skill/readme.txt': '',
    'project/skills/office/other_case/manifest.yml': '',
    'home/installed/web/fetch/SKILL.md': '',
    'elsewhere/tool/manifest.yaml': '',
    'elsewhere/tool/skill.py': '',
  });
  const places = {
    bundledDir: join(root, 'package/skills'),
    home: join(root, 'home'),
    cwd: join(root, 'project'),
  };
  return { root, places };
}

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
  ])('knows the id of a link that leads elsewhere, called %s', (_, ref) => {
    const { root, places } = world();
    symlinkSync(join(root, 'elsewhere/tool'), join(root, 'project/skills/office/linked'));
    expect(findSkill(ref(root), places)).toMatchObject({ ids: [], aliases: ['office/linked'] });
  });

  test('refuses an id that is in two registries, and names both', () => {
    const { root, places } = world();
    writeTree(root, { 'home/installed/finance/screening/manifest.yaml': '' });
    const error = errorOf(() => findSkill('finance/screening', places));
    expect(error.code).toBe('usage');
    expect(error.detail['dirs']).toEqual([
      join(root, 'package/skills/finance/screening'),
      join(root, 'home/installed/finance/screening'),
    ]);
  });

  test('refuses an id that is also a folder here, but not its explicit path', () => {
    const { root, places } = world();
    writeTree(root, { 'project/finance/screening/manifest.yaml': '' });
    expect(errorOf(() => findSkill('finance/screening', places)).code).toBe('usage');
    expect(findSkill('./finance/screening', places).dir).toBe(join(root, 'project/finance/screening'));
  });

  test('takes the same folder in two registries for one', () => {
    const { root, places } = world();
    const same = { ...places, bundledDir: join(root, 'project/skills') };
    symlinkSync(join(root, 'project/skills/office'), join(root, 'home/installed/office'));
    expect(findSkill('office/invoices', same).dir).toBe(join(root, 'project/skills/office/invoices'));
  });

  test('suggests what was meant', () => {
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

  test('never takes an id out of its registry, whatever is typed', () => {
    const { root, places } = world();
    const part = fc.constantFrom('..', '.', '', 'web', 'fetch', 'tool', 'elsewhere', '%2e%2e', '~');
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const ref = parts.join('/');
        try {
          const { dir } = findSkill(ref, places);
          // Whatever is found is where the path as written leads, or the one skill with that id.
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
    writeTree(root, { 'home/installed/pdf/manifest.yaml': '' });
    expect(findSkills(places).filter((skill) => skill.ref === 'pdf')).toHaveLength(2);
  });

  test('is empty where no registry exists', () => {
    expect(
      findSkills({ bundledDir: '/nonexistent/a', home: '/nonexistent/b', cwd: '/nonexistent/c' }),
    ).toEqual([]);
  });
});
