/**
 * Imports: whatever a skill writes, it gets a file of the bundle, a public module of ours, or an error.
 *
 * @module
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  BUNDLE,
  moduleSource,
  resolveModule,
  type ModuleTexts,
} from '../../../guest/wasm/js/cell/modules.ts';
import { ModuleError } from '../../../guest/wasm/js/engine/imports.ts';
import { words } from '../../words.ts';

const FILES = ['skill.ts', 'lib/a.ts', 'lib/b.js', 'lib/deep/c.mts', 'data.json', '__proto__', 'a b.js'];
const texts: ModuleTexts = {
  bundle: new Map(FILES.map((name) => [name, `// ${name}`])),
  prelude: new Map([
    ['fs.js', '// fs'],
    ['env.js', '// env'],
    ['host.js', '// host'],
  ]),
};
const PUBLIC = new Set(['skillcell:prelude/fs.js', 'skillcell:prelude/env.js']);

test.each([
  ['./lib/a.ts', 'skill.ts', 'lib/a.ts'],
  ['./lib/a.js', 'skill.ts', 'lib/a.ts'],
  ['../skill.ts', 'lib/a.ts', 'skill.ts'],
  ['../../skill.js', 'lib/deep/c.mts', 'skill.ts'],
  ['./deep/c.mjs', 'lib/b.js', 'lib/deep/c.mts'],
  ['/skill/data.json', 'lib/b.js', 'data.json'],
  ['./lib//deep/../b.js', 'skill.ts', 'lib/b.js'],
  ['./__proto__', 'skill.ts', '__proto__'],
  ['./a b.js', 'skill.ts', 'a b.js'],
])('the import %s in %s resolves to %s', (specifier, importer, expected) => {
  expect(resolveModule(specifier, BUNDLE + importer, texts)).toBe(BUNDLE + expected);
});

test.each([
  '',
  '.',
  './',
  '..',
  'lib/a.ts',
  './a%20b.js',
  './lib/a.ts?x',
  'file:///skill/skill.ts',
  '/etc/passwd',
  '../skill/../../x',
  'skillcell:prelude/host.js',
  'skillcell:',
  'constructor',
  './constructor',
])('the import %j is refused', (specifier) => {
  expect(() => resolveModule(specifier, `${BUNDLE}skill.ts`, texts)).toThrow(ModuleError);
});

test('any import specifier resolves to a file of the bundle, a public module or an error', () => {
  const part = fc.oneof(
    fc.constantFrom(
      ...words('. .. / lib deep a.ts b.js skill skill.ts skillcell: prelude fs node: %2e'),
      '\0',
      '\\',
    ),
    fc.string(),
  );
  const specifier = fc
    .array(part, { maxLength: 8 })
    .map((parts) => parts.join(fc.sample(fc.constantFrom('/', ''), 1)[0]));
  fc.assert(
    fc.property(specifier, fc.constantFrom(...FILES), (written, importer) => {
      let name: string;
      try {
        name = resolveModule(written, BUNDLE + importer, texts);
      } catch (error) {
        expect(error).toBeInstanceOf(ModuleError);
        return;
      }
      const isOwn = name.startsWith(BUNDLE) && FILES.includes(name.slice(BUNDLE.length));
      expect(isOwn || PUBLIC.has(name)).toBe(true);
      expect(typeof moduleSource(name, texts)).toBe('string');
    }),
    { numRuns: 2000 },
  );
});

test('a JSON file becomes a string literal in its module, whatever it contains', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      const bundle = new Map([['x.json', text]]);
      const source = moduleSource(`${BUNDLE}x.json`, { ...texts, bundle });
      const literal = source.slice('export default JSON.parse('.length, -');'.length + -0);
      expect(JSON.parse(literal.replace(/\);?$/, ''))).toBe(text);
    }),
  );
});
