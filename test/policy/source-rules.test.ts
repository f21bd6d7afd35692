import { describe, expect, test } from 'vitest';
import { sourceMatches } from '../../src/policy/source-rules.ts';

describe('a rule for sources', () => {
  test.each([
    ['*', 'npm:anything', true],
    ['oci://registry.example/team/*', 'oci://registry.example/team/a/b', true],
    ['oci://registry.example/team/*', 'oci://registry.example/team', false],
    ['oci://registry.example/team/*', 'oci://registry.example/other/a', false],
    ['oci://registry.example/*', 'oci://registry.example.evil/a', false],
    ['oci://*.example/*', 'oci://a.b.example/c', true],
    ['https://skills.example/*', 'https://skills.example/..%2f/x.json', false],
    ['git+https://git.example/a/*', 'git+https://git.example/a/%2e%2e/b.git', false],
    ['file:vendor/*', 'file:vendor/../other', false],
    // GitHub reads these in any case, and the folder exactly.
    ['github:Acme/*', 'github:acme/tools', true],
    ['github:acme/tools', 'github:ACME/Tools', true],
    ['github:acme/tools/Skill', 'github:acme/tools/skill', false],
  ])('%s and %s: %s', (pattern, source, matches) => {
    expect(sourceMatches(pattern, source)).toBe(matches);
  });
});
