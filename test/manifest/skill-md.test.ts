import * as fc from 'fast-check';
import { expect, it } from 'vitest';
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
  expect(warnings).toEqual(['name: "a" differs from its folder "b"']);
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
