import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { SKILL_MD_RULES } from '../../src/vocabulary/skill-md-rules.ts';
import { parseSkillMd, parseSkillMdWithManifest, splitSkillMd } from '../../src/manifest/skill-md.ts';

const SKILL_MD =
  '---\nname: pdf-tools\ndescription: Works on PDFs.\nallowed-tools: Bash(rm:*)\nlicense: MIT\n---\n# Use\n\n---\nmore\n';
const invalid = expect.objectContaining({ code: 'manifest_invalid' });

it('SKILL.md yields a name and a description, and no capabilities', () => {
  const { manifest, warnings } = parseSkillMd(SKILL_MD, { file: 'SKILL.md', folder: '/x/pdf-tools' });
  expect(manifest).toMatchObject({
    name: 'skills/pdf-tools',
    description: 'Works on PDFs.',
    declaresCapabilities: false,
    capabilities: { filesystem: [], network: [] },
    extra: { 'allowed-tools': 'Bash(rm:*)', license: 'MIT' },
  });
  expect(warnings).toEqual([expect.stringMatching(/^allowed-tools \(line 4\): .*grants nothing/)]);
});

it('SKILL.md is split at the first closing line only', () => {
  expect(splitSkillMd(SKILL_MD, 'SKILL.md').body).toBe('# Use\n\n---\nmore\n');
  expect(splitSkillMd(SKILL_MD.replaceAll('\n', '\r\n'), 'SKILL.md').frontmatter).toContain(
    'name: pdf-tools',
  );
});

it('SKILL.md causes a warning if the folder has another name', () => {
  const { warnings } = parseSkillMd('---\nname: a\ndescription: x\n---', {
    file: 'SKILL.md',
    folder: '/x/b',
  });
  expect(warnings).toEqual(['name (line 2): "a" differs from its folder "b" [rule name-folder]']);
});

it('a manifest next to SKILL.md takes precedence, and SKILL.md fills in missing keys', () => {
  const manifest = 'version: "2.0"\ncapabilities: { network: [{ host: a.com }] }\nlicense: Apache-2.0';
  const merged = parseSkillMdWithManifest({ skillMd: SKILL_MD, manifest }, { file: 'manifest.yaml' });
  expect(merged.manifest).toMatchObject({
    name: 'skills/pdf-tools',
    version: '2.0',
    description: 'Works on PDFs.',
    declaresCapabilities: true,
    capabilities: { network: [{ host: 'a.com' }] },
    extra: { 'allowed-tools': 'Bash(rm:*)', license: 'Apache-2.0' },
  });
  expect(merged.warnings).toContainEqual(expect.stringMatching(/^SKILL\.md: allowed-tools/));
});

it('SKILL.md never grants capabilities, limits or an entry from its frontmatter', () => {
  const skillMd =
    '---\nname: a\ndescription: x\ncapabilities: { network: [{ host: a.com }] }\nentry: x.sh\nenv_vars: { A: {} }\n---';
  const merged = parseSkillMdWithManifest({ skillMd, manifest: 'name: c/a' }, { file: 'manifest.yaml' });
  expect(merged.manifest).toMatchObject({
    name: 'c/a',
    declaresCapabilities: false,
    capabilities: { network: [] },
    env: {},
  });
  expect(merged.manifest.entry).toBeUndefined();
  expect(parseSkillMd(skillMd, { file: 'SKILL.md' }).manifest.declaresCapabilities).toBe(false);
});

it.each([
  '',
  '# No frontmatter',
  '---\nname: a',
  '---\nname: A\ndescription: x\n---',
  '---\nname: a\n---',
  '---\n[1]\n---',
  '---\n---',
])('SKILL.md is refused with the frontmatter %j', (text) => {
  expect(() => parseSkillMd(text, { file: 'SKILL.md' })).toThrow(invalid);
});

it('SKILL.md with any text is parsed or refused as manifest_invalid', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), fc.boolean(), (text, framed) => {
      try {
        parseSkillMd(framed ? `---\n${text}\n---\n` : text, { file: 'SKILL.md' });
      } catch (error) {
        expect(error).toMatchObject({ name: 'SkillError', code: 'manifest_invalid' });
      }
    }),
  );
});

const FOLDER = { file: 'SKILL.md', folder: '/x/pdf-tools' };
const rulesOf = (warnings: readonly string[]): string[] =>
  warnings.flatMap((text) => /\[rule ([a-z-]+)\]$/.exec(text)?.[1] ?? []);

/** Frontmatter that agents accept although it breaks a rule. */
it.each([
  ['description: x', 'name-present'],
  ['name:\ndescription: x', 'name-present'],
  ['name: PDF Tools\ndescription: x', 'name-characters'],
  ['name: -pdf\ndescription: x', 'name-hyphens'],
  [`name: ${'a'.repeat(65)}\ndescription: x`, 'name-length'],
  [`name: pdf-tools\ndescription: ${'x'.repeat(1025)}`, 'description-length'],
  ['name: pdf-tools\ndescription: Use when: it fits', 'yaml'],
  ['name: pdf-tools\ndescription:"Quoted"', 'yaml'],
  ['name: pdf-tools\ndescription: [Beta] x', 'yaml'],
  ['name: pdf-tools\ndescription: x\nlicense: [MIT]', 'license-text'],
  [`name: pdf-tools\ndescription: x\ncompatibility: ${'x'.repeat(501)}`, 'compatibility-length'],
  ['name: pdf-tools\ndescription: x\ncompatibility: ""', 'compatibility-length'],
  ['name: pdf-tools\ndescription: x\nmetadata: [a]', 'metadata-text'],
  ['name: pdf-tools\ndescription: x\nmetadata: { a: [b] }', 'metadata-text'],
  ['name: pdf-tools\ndescription: x\nallowed-tools: [Bash, Read]', 'allowed-tools-text'],
  ['name: pdf-tools\ndescription: x\nversion: "1"', 'known-keys'],
])('frontmatter %j loads under the name of the folder and breaks the rule %s', (frontmatter, rule) => {
  expectBroken(frontmatter, rule, 'pdf-tools');
});

it.each([
  ['name: pdf_tools\ndescription: x', 'name-characters', 'pdf_tools'],
  ['name: pdf--tools\ndescription: x', 'name-hyphens', 'pdf--tools'],
  ['name: other\ndescription: x', 'name-folder', 'other'],
])('frontmatter %j breaks the rule %s, and the skill keeps the name %s', expectBroken);

function expectBroken(frontmatter: string, rule: string, name: string): void {
  const { manifest, warnings } = parseSkillMd(`---\n${frontmatter}\n---\nText`, FOLDER);
  expect(rulesOf(warnings)).toContain(rule);
  expect(manifest.name).toBe(`skills/${name}`);
}

it.each([
  ['name: pdf-tools', 'description-present'],
  ['name: pdf-tools\ndescription: ""', 'description-present'],
  ['name: pdf-tools\ndescription: [a]', 'description-present'],
  ['- name', 'yaml'],
])('frontmatter %j is refused and names the rule %s', (frontmatter, rule) => {
  expect(() => parseSkillMd(`---\n${frontmatter}\n---\n`, FOLDER)).toThrow(`[rule ${rule}]`);
});

it('a name that is not a valid id is refused if the folder has none either', () => {
  const place = { file: 'SKILL.md', folder: '/x/PDF Tools' };
  expect(() => parseSkillMd('---\nname: PDF Tools\ndescription: x\n---\n', place)).toThrow(
    '[rule name-characters]',
  );
});

it.each([
  ['a byte order mark', `\uFEFF---\nname: pdf-tools\ndescription: x\n---\n`],
  ['CRLF', '---\r\nname: pdf-tools\r\ndescription: x\r\n---\r\n'],
  ['a folded block', '---\nname: pdf-tools\ndescription: >-\n  x\n---\n'],
  ['numbers in metadata', '---\nname: pdf-tools\ndescription: x\nmetadata: { version: 1.0 }\n---\n'],
  ['the longest values', `---\nname: pdf-tools\ndescription: "${'x'.repeat(1024)}"\n---\n`],
])('frontmatter with %s follows the specification', (_, text) => {
  const { manifest, warnings } = parseSkillMd(text, FOLDER);
  expect(rulesOf(warnings)).toEqual([]);
  expect(manifest.description).toMatch(/^x+$/);
});

it.each([
  ['metadata: { version: "1.2.0" }', '1.2.0'],
  ['metadata: { version: 1.2.0 }', '1.2.0'],
  ['metadata: { version: "one two" }', '0.0.0'],
  ['metadata: { version: [1] }', '0.0.0'],
  ['metadata: text', '0.0.0'],
  ['license: MIT', '0.0.0'],
])('frontmatter with %j has the version %j', (line, version) => {
  const { manifest } = parseSkillMd(`---\nname: pdf-tools\ndescription: x\n${line}\n---\n`, FOLDER);
  expect(manifest.version).toBe(version);
});

it('a repaired description keeps its whole text, its continuation, and the lines of later keys', () => {
  const text = '---\nname: pdf-tools\ndescription: Use when: it\n  fits\nversion: "1"\n---\n';
  const { manifest, warnings } = parseSkillMd(text, FOLDER);
  expect(manifest.description).toBe('Use when: it fits');
  expect(warnings).toContainEqual(expect.stringMatching(/^version \(line 5\)/));
});

it('frontmatter that no repair helps is reported as it is written', () => {
  expect(() => parseSkillMd('---\nname: a\ndescription: b: c\nx: "\n---\n', FOLDER)).toThrow(/line [34]/);
});

it('every name and description within the specification loads without a broken rule', () => {
  const name = fc.stringMatching(/^[a-z0-9]{1,20}(?:-[a-z0-9]{1,10}){0,3}$/);
  const description = fc.string({ minLength: 1, maxLength: 1024, unit: 'grapheme-ascii' });
  fc.assert(
    fc.property(name, description, fc.constantFrom('\n', '\r\n'), (skill, about, newline) => {
      fc.pre(about.trim() !== '');
      const lines = ['---', `name: "${skill}"`, `description: ${JSON.stringify(about)}`, '---', 'Body'];
      const parsed = parseSkillMd(lines.join(newline), { file: 'SKILL.md', folder: `/x/${skill}` });
      expect(rulesOf(parsed.warnings)).toEqual([]);
      expect(parsed.manifest).toMatchObject({ name: `skills/${skill}`, description: about });
    }),
  );
});

it('splitting a SKILL.md loses no line', () => {
  const line = fc
    .string({ maxLength: 20 })
    .filter((text) => !/[\r\n]/.test(text) && text.trimEnd() !== '---');
  fc.assert(
    fc.property(fc.array(line), fc.array(line), (front, body) => {
      const parts = splitSkillMd(['---', ...front, '---', ...body].join('\n'), 'SKILL.md');
      expect(parts).toEqual({ frontmatter: front.join('\n'), body: body.join('\n') });
    }),
  );
});

it('the manual lists every rule as the table has it', () => {
  const manual = readFileSync(new URL('../../docs/manifest.md', import.meta.url), 'utf8').replaceAll(
    / +/g,
    ' ',
  );
  for (const [name, row] of Object.entries(SKILL_MD_RULES)) {
    const result = row.broken === 'refused' ? 'refused' : `loads; ${row.used}`;
    expect(manual).toContain(`| \`${name}\` | ${row.rule} | ${result} |`);
  }
});
