import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { SkillError } from '../../src/errors.ts';
import { parseManifest } from '../../src/manifest/parse.ts';

describe('parsing arbitrary input', () => {
  const onlyManifestInvalid = (text: string): void => {
    try {
      parseManifest(text, { file: 'manifest.yaml' });
    } catch (error) {
      expect(error).toBeInstanceOf(SkillError);
      expect((error as SkillError).code).toBe('manifest_invalid');
    }
  };

  it('accepts or refuses any text as manifest_invalid', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), onlyManifestInvalid));
  });

  it('accepts or refuses text made of YAML syntax as manifest_invalid', () => {
    const token = fc.constantFrom(
      'name',
      ': ',
      '\n',
      '  ',
      '- ',
      '[',
      ']',
      '{',
      '}',
      ',',
      '&a ',
      '*a',
      '!!str ',
      '!x ',
      '? ',
      '| ',
      '>\n',
      '"',
      "'",

      '#',
      '---\n',
      '...\n',
      '%YAML 1.1\n',
      '<<',
      '0123',
      'off',
      '~',
      '\t',
      'capabilities',
      'a/b',
      '\\',
      '\u0085',
    );
    fc.assert(fc.property(fc.string({ unit: token, maxLength: 40 }), onlyManifestInvalid), { numRuns: 500 });
  });

  it('accepts or refuses known keys with arbitrary values as manifest_invalid', () => {
    const keys = [
      'version',
      'parameters',
      'outputs',
      'env_vars',
      'capabilities',
      'limits',
      'container',
      'execution',
      'category',
    ];
    const document = fc.dictionary(fc.constantFrom(...keys), fc.jsonValue());
    fc.assert(
      fc.property(document, (value) => onlyManifestInvalid(stringify({ name: 'a/b', ...value }))),
      { numRuns: 300 },
    );
  });
});
