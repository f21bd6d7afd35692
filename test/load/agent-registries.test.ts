import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { foldersUpToRepository } from '../../src/load/agent-registries.ts';
import { findSkill, findSkills, type SkillPlaces } from '../../src/load/locate.ts';
import { MAX_MARKETPLACE_BYTES, marketplaceRegistries } from '../../src/load/marketplaces.ts';
import { MAX_FOLDERS, skillsIn } from '../../src/load/registries.ts';
import { MARKETPLACE_FILE } from '../../src/vocabulary/agent-folders.ts';
import { errorOf, tempTree, writeTree } from './helpers.ts';

const TEXT = '---\nname: x\ndescription: x\n---\n';

/** A repository with a project below it, and a home. */
function world(files: Record<string, string>): { root: string; places: SkillPlaces } {
  const root = tempTree({ 'repo/.git/HEAD': '', 'repo/project/readme.txt': '', ...files });
  const places = {
    bundledDir: join(root, 'bundled'),
    home: join(root, 'home'),
    cwd: join(root, 'repo/project'),
    userHome: join(root, 'user'),
  };
  return { root, places };
}

const refs = (places: SkillPlaces): string[] => findSkills(places).map(({ ref }) => ref);

describe('skills of agents', () => {
  test.each([
    'repo/project/.agents/skills',
    'repo/project/.claude/skills',
    'repo/project/.gemini/skills',
    'repo/project/.cursor/skills',
    'repo/project/.github/skills',
    'repo/.claude/skills',
    'user/.agents/skills',
    'user/.claude/skills',
    'user/.gemini/skills',
    'user/.cursor/skills',
    'user/.copilot/skills',
  ])('are found in %s, by their id', (folder) => {
    const { root, places } = world({ [`${folder}/pdf/SKILL.md`]: TEXT });
    const dir = join(root, folder, 'pdf');
    expect(findSkills(places)).toEqual([
      { ref: 'skills/pdf', dir, ids: ['skills/pdf'], aliases: ['skills/pdf'] },
    ]);
    expect(findSkill('skills/pdf', places).dir).toBe(dir);
  });

  test.each([
    '.claude/skills',
    'user/.github/skills',
    'repo/project/sub/.claude/skills',
    'repo/project/.x/skills',
  ])('are not looked for in %s', (folder) =>
    expect(refs(world({ [`${folder}/pdf/SKILL.md`]: TEXT }).places)).toEqual([]),
  );

  test('are not looked for above a project that is in no repository, nor in a home that was not named', () => {
    const { places } = world({ 'user/.claude/skills/a/SKILL.md': TEXT, 'user/p/x.txt': '' });
    const cwd = join(places.userHome ?? '', 'p');
    expect(foldersUpToRepository(cwd)).toEqual([cwd]);
    expect(refs({ ...places, cwd, userHome: undefined })).toEqual([]);
  });

  test('with one id in two folders are an error that names both, and each has its path', () => {
    const { root, places } = world({
      'repo/project/.agents/skills/pdf/SKILL.md': TEXT,
      'user/.claude/skills/pdf/SKILL.md': `${TEXT}other`,
    });
    const error = errorOf(() => findSkill('skills/pdf', places));
    expect(error.message).toContain('repo/project/.agents/skills/pdf');
    expect(error.message).toContain('user/.claude/skills/pdf');
    expect(findSkill(join(root, 'user/.claude/skills/pdf'), places).ids).toEqual(['skills/pdf']);
  });

  test('are one skill if a tool linked or copied it', () => {
    const { root, places } = world({
      'repo/.agents/skills/pdf/SKILL.md': TEXT,
      'user/.claude/skills/pdf/SKILL.md': TEXT,
    });
    mkdirSync(join(root, 'repo/.claude/skills'), { recursive: true });
    symlinkSync('../../.agents/skills/pdf', join(root, 'repo/.claude/skills/pdf'));
    expect(refs(places)).toEqual(['skills/pdf']);
    expect(findSkill('skills/pdf', places).dir).toBe(join(root, 'repo/.agents/skills/pdf'));
  });

  test('behind a link that leaves the project or the home are left out', () => {
    const { root, places } = world({ 'elsewhere/pdf/SKILL.md': TEXT, 'repo/project/.claude/x': '' });
    const elsewhere = join(root, 'elsewhere');
    symlinkSync(elsewhere, join(root, 'repo/project/.claude/skills'));
    writeTree(root, { 'user/.claude/skills/readme.txt': '' });
    symlinkSync(join(elsewhere, 'pdf'), join(root, 'user/.claude/skills/pdf'));
    expect(refs(places)).toEqual([]);
    expect(errorOf(() => findSkill('skills/pdf', places)).code).toBe('skill_unavailable');
  });

  test('do not take the id of a category: an id with another category is not theirs', () => {
    const { root, places } = world({
      'repo/project/.claude/skills/office/SKILL.md': TEXT,
      'repo/project/skills/office/invoices/manifest.yaml': '',
    });
    expect(refs(places)).toEqual(['office/invoices', 'skills/office']);
    expect(findSkill('office/invoices', places).dir).toBe(join(root, 'repo/project/skills/office/invoices'));
    expect(errorOf(() => findSkill('finance/office', places)).code).toBe('skill_unavailable');
  });

  test('with a manifest keep the name of their folder', () => {
    const { places } = world({ 'repo/project/.claude/skills/tool/manifest.yaml': 'name: a/tool' });
    expect(findSkills(places)).toMatchObject([{ ref: 'tool', ids: ['tool'] }]);
  });

  test('whose folder cannot be an id are listed by their path', () => {
    const { root, places } = world({ 'repo/project/.claude/skills/PDF Tools/SKILL.md': TEXT });
    const dir = join(root, 'repo/project/.claude/skills/PDF Tools');
    expect(findSkills(places)).toMatchObject([{ ref: dir, dir, ids: [] }]);
  });

  test('are bounded in number', () => {
    const { root, places } = world({});
    for (let n = 0; n < MAX_FOLDERS + 5; n++)
      writeTree(root, { [`repo/project/.claude/skills/s${n}/SKILL.md`]: TEXT });
    expect(refs(places)).toHaveLength(MAX_FOLDERS);
  });
});

describe('a folder that a person names', () => {
  const files = {
    'vendor/pdf/SKILL.md': TEXT,
    'vendor/office/invoices/manifest.yaml': '',
    'vendor/skills/docx/SKILL.md': TEXT,
  };

  test('holds skills of both layouts', () => {
    const { root, places } = world(files);
    expect(refs({ ...places, folders: [join(root, 'vendor')] })).toEqual([
      'office/invoices',
      'skills/docx',
      'skills/pdf',
    ]);
  });

  test('may be a skill itself', () => {
    const { root, places } = world(files);
    expect(refs({ ...places, folders: [join(root, 'vendor/pdf')] })).toEqual(['skills/pdf']);
  });
});

describe('marketplaceRegistries', () => {
  function marketplace(content: unknown, files: Record<string, string> = {}): string {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    return tempTree({ [`root/${MARKETPLACE_FILE}`]: text, ...files });
  }
  const found = (folder: string): string[] =>
    marketplaceRegistries(join(folder, 'root'))
      .flatMap(skillsIn)
      .map(({ ref }) => ref);

  test('finds the skills of plugins, in their folder and by name', () => {
    const folder = marketplace(
      {
        metadata: { pluginRoot: './plugins' },
        plugins: [
          { name: 'a', source: './a' },
          { name: 'b', source: './', skills: ['./named', './more'] },
          { name: 'c', source: { source: 'github', repo: 'x/y' } },
          { name: 'd' },
          7,
        ],
      },
      {
        'root/plugins/a/skills/one/SKILL.md': TEXT,
        'root/plugins/named/SKILL.md': TEXT,
        'root/plugins/unnamed/SKILL.md': TEXT,
        'root/plugins/more/two/SKILL.md': TEXT,
      },
    );
    expect(found(folder)).toEqual(['skills/one', 'skills/named', 'skills/two']);
  });

  test.each([
    [{ plugins: [{ source: '../outside' }] }],
    [{ plugins: [{ source: './', skills: ['../outside/skills'] }] }],
    [{ plugins: [{ source: '/outside' }] }],
    [{ plugins: [{ source: './link' }] }],
    [{ metadata: { pluginRoot: '..' }, plugins: [{ source: './outside' }] }],
    ['{'],
    ['[]'],
    [{ plugins: [], filler: 'x'.repeat(MAX_MARKETPLACE_BYTES) }],
  ])('finds nothing outside of its folder, and nothing in a broken file: %j', (content) => {
    const folder = marketplace(content, { 'outside/skills/x/SKILL.md': TEXT });
    symlinkSync('../outside', join(folder, 'root/link'));
    expect(found(folder)).toEqual([]);
  });

  test('a link in the place of the file is not followed', () => {
    const folder = tempTree({ 'root/.claude-plugin/x': '', 'root/skills/a/SKILL.md': TEXT });
    writeFileSync(join(folder, 'real.json'), JSON.stringify({ plugins: [{ source: './' }] }));
    symlinkSync(join(folder, 'real.json'), join(folder, 'root', MARKETPLACE_FILE));
    expect(found(folder)).toEqual([]);
  });

  test('whatever the file says, every folder found is inside the marketplace', () => {
    const folder = marketplace('', {
      'outside/skills/x/SKILL.md': TEXT,
      'root/p/skills/y/SKILL.md': TEXT,
    });
    const path = fc
      .array(fc.constantFrom('..', '.', 'p', 'skills', 'outside', 'root', '', 'y', '~'), { maxLength: 5 })
      .map((parts) => parts.join('/'));
    const plugin = fc.record({ source: path, skills: fc.option(fc.array(path), { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(plugin, { maxLength: 4 }), path, (plugins, pluginRoot) => {
        writeFileSync(
          join(folder, 'root', MARKETPLACE_FILE),
          JSON.stringify({ plugins, metadata: { pluginRoot } }),
        );
        const dirs = marketplaceRegistries(join(folder, 'root')).flatMap(skillsIn);
        expect(dirs.every(({ dir }) => dir.startsWith(`${folder}/root/`))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
