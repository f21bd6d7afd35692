/**
 * Which modules a script of a bundle loads: through its own files, but not those that only a function imports.
 *
 * @module
 */
import { expect, test } from 'vitest';
import { loadedModules } from '../../src/load/loaded-modules.ts';
import { NOTHING_INSPECTED } from '../../src/load/inspection.ts';

const FILES = [
  'scripts/pack.py',
  'scripts/validators/__init__.py',
  'scripts/validators/base.py',
  'scripts/validators/deep/more.py',
  'lib/tools.py',
  'shared.py',
];

function modules(loads: [file: string, ...values: string[]][], start: string[], root: string): unknown {
  const found = loads.flatMap(([file, ...values]) =>
    values.map((value, index) => ({ value, at: `${file}:${index + 1}` })),
  );
  const files = Object.fromEntries(FILES.map((path) => [path, 'sha256:0']));
  return loadedModules({ inspection: { ...NOTHING_INSPECTED, loads: found }, files }, start, root)?.map(
    ({ name, at }) => `${name} ${at}`,
  );
}

test('imports are followed through packages and relative names', () => {
  const loads: [string, ...string[]][] = [
    ['scripts/pack.py', 'json', 'validators', 'validators.Base'],
    ['scripts/validators/__init__.py', '.base', '.base.Base'],
    ['scripts/validators/base.py', 'lxml.etree', '..helper', '.deep.more'],
    ['scripts/validators/deep/more.py', 'numpy'],
  ];
  expect(modules(loads, ['scripts/pack.py'], 'scripts')).toEqual([
    'json scripts/pack.py:1',
    'lxml scripts/validators/base.py:1',
    'numpy scripts/validators/deep/more.py:1',
  ]);
});

test('a name that could be a module, but is one inside of it, leads nowhere else', () => {
  const loads: [string, ...string[]][] = [['scripts/pack.py', 'validators.DOCXSchemaValidator']];
  expect(modules(loads, ['scripts/pack.py'], 'scripts')).toEqual([]);
});

test('folders above a script are searched too, because scripts add them to their path', () => {
  const loads: [string, ...string[]][] = [
    ['scripts/validators/deep/more.py', 'shared', 'lib.tools', 'validators.base'],
    ['shared.py', 'yaml'],
    ['lib/tools.py', 'requests'],
  ];
  expect(modules(loads, ['scripts/validators/deep/more.py'], 'scripts/validators/deep')).toEqual([
    'requests lib/tools.py:1',
    'yaml shared.py:1',
  ]);
});

test('files that import each other end', () => {
  const loads: [string, ...string[]][] = [
    ['scripts/pack.py', 'shared'],
    ['shared.py', 'scripts.pack'],
  ];
  expect(modules(loads, ['scripts/pack.py'], 'scripts')).toEqual([]);
});

test('nothing is claimed if the inspection did not report all imports', () => {
  const many = Array.from({ length: 500 }, (_, index) => `m${index}`);
  expect(modules([['scripts/pack.py', ...many]], ['scripts/pack.py'], 'scripts')).toBeUndefined();
  const bare = { inspection: NOTHING_INSPECTED, files: { 'a.py': 'sha256:0' } };
  expect(loadedModules(bare, ['a.py'], '')).toBeUndefined();
});
