/**
 * Any text as YAML: data within all caps, or `manifest_invalid` and nothing else.
 *
 * @module
 */
import { SkillError } from '../../src/errors.ts';
import { readYaml } from '../../src/manifest/yaml-source.ts';
import { fuzzTarget, type FuzzTarget } from './target.ts';
import { yamlText } from './texts.ts';

const CORPUS = [
  'a: 1\nb: [x, "y", {z: null}]\nc: |\n  text\n  more\nd: !!str 7\n',
  'base: &base {a: 1}\nother: *base\nlist: [*base, *base]\n',
  `${Array.from({ length: 300 }, (_, n) => `key_${n}: ${n}`).join('\n')}\n`,
  `${'['.repeat(60)}1${']'.repeat(60)}\n`,
];

export const yamlTarget: FuzzTarget = fuzzTarget({
  name: 'yaml',
  input: (seed) => yamlText(seed, CORPUS),
  check: (text) => {
    try {
      const source = readYaml(text, { file: 'fuzz.yaml' });
      // Accepted input is plain data, and every location has a line or none.
      JSON.stringify(source.value);
      source.lineOf(['a', 0, 'b']);
      if (source.warnings.some((warning) => typeof warning !== 'string'))
        throw new Error('A warning is not a string');
      return true;
    } catch (error) {
      if (error instanceof SkillError && error.code === 'manifest_invalid') return false;
      throw error;
    }
  },
});
