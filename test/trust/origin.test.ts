import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listSkills, locateSkill, originOf } from '../../src/trust/origin.ts';
import type { SkillPlaces } from '../../src/load/locate.ts';
import { tempWorld, writeTree } from '../load/helpers.ts';

function world(): { root: string; places: SkillPlaces } {
  return tempWorld({
    'package/skills/a/bundled/manifest.yaml': '',
    'project/skills/a/project/manifest.yaml': '',
    'project/deep/er/manifest.yaml': '',
    'project-two/x/manifest.yaml': '',
    'home/installed/a/installed/manifest.yaml': '',
    'home/else/manifest.yaml': '',
  });
}

test.each([
  ['a/bundled', 'bundled'],
  ['a/project', 'project'],
  ['a/installed', 'installed'],
  ['./deep/er', 'project'],
  ['../package/skills/a/bundled', 'bundled'],
  ['../project-two/x', 'external'],
  ['../home/else', 'external'],
])('the origin of %s is %s', (ref, origin) => {
  expect(locateSkill(ref, world().places)).toMatchObject({ ref, origin });
});

test('a link inside the project that leads outside is external', () => {
  const { root, places } = world();
  symlinkSync(join(root, 'project-two/x'), join(root, 'project/skills/a/linked'));
  expect(locateSkill('a/linked', places).origin).toBe('external');
});

test('the most specific folder decides if one contains another', () => {
  const { root, places } = world();
  const nested = { ...places, cwd: root };
  expect(originOf(join(root, 'package/skills/a/bundled'), nested)).toBe('bundled');
  expect(originOf(join(root, 'home/installed/a/installed'), nested)).toBe('installed');
  expect(originOf(join(root, 'home/else'), nested)).toBe('project');
});

test('a folder that does not exist contains nothing', () => {
  const { root, places } = world();
  const missing = { ...places, bundledDir: join(root, 'missing') };
  expect(originOf(join(root, 'package/skills/a/bundled'), missing)).toBe('external');
});

test('the list shows the origin of each skill', () => {
  const { places } = world();
  expect(listSkills(places).map(({ ref, origin }) => [ref, origin])).toEqual([
    ['a/bundled', 'bundled'],
    ['a/installed', 'installed'],
    ['a/project', 'project'],
  ]);
});

test.each(['project/.claude/skills/pdf', 'project/.agents/skills/pdf', 'user/.copilot/skills/pdf'])(
  'a skill in %s is external, because tools copy the skills of strangers there',
  (folder) => {
    const { root, places } = world();
    writeTree(root, { [`${folder}/SKILL.md`]: '' });
    const all = { ...places, userHome: join(root, 'user') };
    expect(locateSkill('skills/pdf', all)).toMatchObject({ dir: join(root, folder), origin: 'external' });
  },
);
