/**
 * What the files of a stranger's folder say about its packages.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDeclaredPackages, type DeclaredPackages } from '../../src/load/declared-packages.ts';
import { packageOf } from '../../src/load/import-names.ts';
import { NOTHING_INSPECTED } from '../../src/load/inspection.ts';
import { proposal } from '../../src/load/propose-packages.ts';
import { tomlStrings } from '../../src/load/toml-strings.ts';
import { requirementProblem } from '../../src/manifest/names.ts';
import { exampleManifest } from '../policy/example-manifest.ts';
import { folderPerTest } from '../test-folder.ts';
import { words } from '../words.ts';
import { dedent } from '../write-skill.ts';

const folder = folderPerTest();

function find(files: Record<string, string>, caps?: { bytes: number; files: number }): DeclaredPackages {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(folder.at(path)), { recursive: true });
    writeFileSync(folder.at(path), text);
  }
  return findDeclaredPackages(folder.path, Object.keys(files), caps);
}

const placesOf = ({ python }: DeclaredPackages): string[] =>
  python.map(({ requirement, at }) => `${requirement} @ ${at}`);

describe('declared packages', () => {
  it('come from the PEP 723 block of a script, with the line', () => {
    const script = dedent(`
      #!/usr/bin/env python3
      # /// script
      # requires-python = ">=3.10"
      # dependencies = [
      #   "pypdf>=4", # reads forms
      #   'rich[all] ~= 13.0',
      # ]
      #
      # [tool.uv]
      # dependencies = ["never"]
      # ///
      import pypdf
    `);
    expect(placesOf(find({ 'scripts/x.py': script }))).toEqual([
      'pypdf>=4 @ scripts/x.py:5',
      'rich[all] ~= 13.0 @ scripts/x.py:6',
    ]);
  });

  it.each([
    ['that never ends', '# /// script\n# dependencies = ["a"]\nimport a\n# ///\n'],
    ['of another type', '# /// pyproject\n# dependencies = ["a"]\n# ///\n'],
    ['in a string', 'TEXT = """\n  # /// script\n# dependencies = ["a"]\n# ///\n"""\n'],
    ['whose list never ends', '# /// script\n# dependencies = ["a",\n# ///\n'],
  ])('do not come from a block %s', (_, text) => {
    expect(find({ 'x.py': text }).python).toEqual([]);
  });

  it('come from requirements.txt, without options, addresses and digests', () => {
    const text = [
      '# comment',
      'pypdf==5.0  # pinned',
      'lxml>=5; python_version >= "3.9" \\',
      '    --hash=sha256:abc',
      '-r other.txt',
      '--index-url https://index.invalid/simple',
      'evil @ https://evil.invalid/evil.whl',
      './local',
      'git+https://evil.invalid/x.git',
      '',
    ].join('\r\n');
    const found = find({ 'requirements.txt': text });
    expect(placesOf(found)).toEqual([
      'pypdf==5.0 @ requirements.txt:2',
      'lxml>=5; python_version >= "3.9" @ requirements.txt:3',
    ]);
    expect(found.skipped.map(({ at }) => at)).toEqual([5, 6, 7, 8, 9].map((at) => `requirements.txt:${at}`));
  });

  it('come from [project] of pyproject.toml, and from no other table', () => {
    const text = `
[build-system]
dependencies = ["build-only"]
[tool.x]
text = """
[project]
dependencies = ["inside-a-string"]
"""
[[tool.list]]
dependencies = ["in-a-list"]
[project] # own
name = "x"
dependencies = ["openpyxl", "a\\\\b"]
[project.optional-dependencies]
dependencies = ["optional"]
`;
    const found = find({ 'pyproject.toml': text });
    expect(placesOf(found)).toEqual(['openpyxl @ pyproject.toml:13']);
    expect(found.skipped).toHaveLength(1);
  });

  it('of npm come from package.json and stay apart', () => {
    const found = find({
      'package.json': '{"dependencies": {"pptxgenjs": "1"}, "devDependencies": {"x": "1"}}',
    });
    expect(found.npm).toEqual([
      { requirement: 'pptxgenjs', spec: expect.any(String) as string, at: 'package.json' },
    ]);
    expect(find({ 'package.json': '{' }).skipped).toMatchObject([{ reason: 'it is not valid JSON' }]);
    expect(find({ 'package.json': 'null' })).toEqual({ python: [], npm: [], skipped: [] });
  });

  it('never come from setup.py, which is a program', () => {
    expect(find({ 'setup.py': 'setup(install_requires=["x"])\n' }).python).toEqual([]);
  });

  it('are searched for only up to a cap, and what was left out is named', () => {
    const found = find(
      { 'a.py': `x = 1\n${'#'.repeat(5000)}`, 'b.py': 'y = 2\n' },
      { bytes: 1000, files: 9 },
    );
    expect(found.skipped).toMatchObject([{ text: 'a.py' }]);
  });
});

describe('for any text, the readers', () => {
  const tomlish = fc.array(
    fc.constantFrom(
      ...words('[project] [ ] " """ # , b'),
      "'",
      'dependencies = ["a"]',
      'dependencies =',
      '\n',
      '\\',
    ),
    { maxLength: 60 },
  );

  it('never throw and never find anything but text of the list', () => {
    fc.assert(
      fc.property(tomlish, (parts) => {
        const text = parts.join('');
        for (const { value, line } of tomlStrings(text, { table: 'project', key: 'dependencies' }) ?? []) {
          expect(value).not.toContain('\n');
          for (const letter of value) expect(text).toContain(letter);
          expect(line).toBeGreaterThan(0);
          expect(line).toBeLessThanOrEqual(text.split('\n').length);
        }
      }),
    );
  });

  it('take time in proportion to the text', () => {
    const deep = `[project]\ndependencies = [${'['.repeat(200_000)}`;
    expect(tomlStrings(deep, { table: 'project', key: 'dependencies' })).toBeUndefined();
    const many = `[project]\ndependencies = [${'"a",'.repeat(200_000)}]`;
    expect(tomlStrings(many, { table: 'project', key: 'dependencies' })).toBeUndefined();
  });
});

// By the square of their length, these texts would take hours.
describe('Texts made to be slow', () => {
  it('are read in one pass: a table of spaces', () => {
    const text = `[${' '.repeat(500_000)}\n[ project ]\ndependencies = ["pypdf"]\n`;
    expect(placesOf(find({ 'pyproject.toml': text }))).toEqual(['pypdf @ pyproject.toml:3']);
  });

  it.each([' #', ' --hash='])('are read in one pass: requirements with many "%s"', (part) => {
    // The last character ends a line for a pattern, but not for pip.
    const text = `pypdf${part.repeat(100_000)}\u2028\n`;
    expect(placesOf(find({ 'requirements.txt': text }))).toEqual(['pypdf @ requirements.txt:1']);
  });
});

describe('a proposal', () => {
  const propose = (
    modules: Record<string, string>,
    requirements: string[] = [],
    declared: string[] = [],
  ): string[] =>
    proposal(
      {
        manifest: exampleManifest({ requirements }),
        files: { 'scripts/helper.py': '', 'scripts/office/pack.py': '' },
        inspection: {
          ...NOTHING_INSPECTED,
          modules: Object.entries(modules).map(([value, at]) => ({ value, at })),
        },
      },
      {
        python: declared.map((requirement) => ({ requirement, at: 'requirements.txt:1' })),
        npm: [],
        skipped: [],
      },
    ).needs.map(({ requirement, why, at }) => `${requirement} ${why} ${at}`);

  it('names the package of an import, where it differs, and the first place', () => {
    expect(
      propose({ yaml: 'a.py:1', 'PIL.Image': 'a.py:2', 'docx.shared': 'b.py:1', pypdf: 'c.py:9' }),
    ).toEqual([
      'PyYAML imported a.py:1',
      'pillow imported a.py:2',
      'python-docx imported b.py:1',
      'pypdf imported c.py:9',
    ]);
  });

  it('leaves out the standard library, own modules, and what is required or declared', () => {
    const modules = {
      os: 'a.py:1',
      helper: 'a.py:2',
      'office.pack': 'a.py:3',
      yaml: 'a.py:4',
      pypdf: 'a.py:5',
    };
    expect(propose(modules, ['PyYAML'], ['pypdf>=4'])).toEqual(['pypdf>=4 declared requirements.txt:1']);
  });

  it('is always a requirement by name only, whatever is imported', () => {
    fc.assert(
      fc.property(fc.string(), (module) => {
        const name = packageOf(module);
        if (name !== undefined) expect(requirementProblem(name)).toBeUndefined();
      }),
    );
  });
});
