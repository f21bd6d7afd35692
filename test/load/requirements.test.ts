import { describe, expect, it } from 'vitest';
import { requirementsOf } from '../../src/load/requirements.ts';

interface Code {
  listed?: string[];
  imports?: string[];
  files?: string[];
  legacy?: boolean;
}

function needsOf({ listed = [], imports = [], files = [], legacy = true }: Code): string[] {
  return requirementsOf({
    manifest: { requirements: listed, declaresCapabilities: !legacy },
    inspection: { modules: imports.map((value) => ({ value, at: 'skill.py:1' })) },
    paths: ['skill.py', ...files],
  });
}

describe('requirementsOf a bundle', () => {
  it('returns what the manifest lists, sorted and without duplicates', () => {
    expect(needsOf({ listed: ['b', 'a>=1', 'b'] })).toEqual(['a>=1', 'b']);
  });

  it.each([
    ['yaml', 'pyyaml'],
    ['yaml.loader', 'pyyaml'],
    ['requests.exceptions', 'requests'],
    ['bs4', 'beautifulsoup4'],
  ])('that is made for Skillware and imports %s without listing it includes %s', (module, distribution) => {
    expect(needsOf({ imports: [module, module] })).toEqual([distribution]);
  });

  it('adds nothing that is listed under another name or version', () => {
    expect(needsOf({ listed: ['PyYAML>=6', 'bs4'], imports: ['yaml', 'bs4'] })).toEqual(['PyYAML>=6', 'bs4']);
  });

  it('adds nothing that Skillware does not provide', () => {
    expect(needsOf({ imports: ['google.genai', 'yamlish', 'json'] })).toEqual([]);
    expect(needsOf({ imports: ['constructor', '__proto__', ''] })).toEqual([]);
  });

  it("adds nothing for a bundle's own module", () => {
    expect(needsOf({ imports: ['rich'], files: ['rich.py'] })).toEqual([]);
  });

  it('adds nothing if the manifest declares capabilities, because then its list is complete', () => {
    expect(needsOf({ listed: ['b', 'a'], imports: ['yaml'], legacy: false })).toEqual(['a', 'b']);
  });
});
