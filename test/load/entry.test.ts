import { expect, test } from 'vitest';
import { findEntry, requireDockerfile } from '../../src/load/entry.ts';
import { errorOf } from './helpers.ts';

const files = (...paths: string[]): Record<string, string> =>
  Object.fromEntries(paths.map((path) => [path, 'hash']));

test('the usual entry names are tried in their order', () => {
  expect(findEntry({}, files('Dockerfile', 'skill.js', 'skill.py'))).toBe('skill.py');
  expect(findEntry({}, files('Dockerfile', 'skill.wasm'))).toBe('skill.wasm');
});

test('the entry that the manifest names is tried first', () => {
  expect(findEntry({ entry: 'src/main.py' }, files('skill.py', 'src/main.py'))).toBe('src/main.py');
  expect(findEntry({ entry: './src/../skill.py' }, files('skill.py'))).toBe('skill.py');
});

test.each([
  'missing.py',
  '../skill.py',
  '/etc/passwd',
  'src/../../skill.py',
  'src',
  '',
  'constructor',
  'skill.py/',
])('the entry "%s" is refused', (entry) => {
  const error = errorOf(() => findEntry({ entry }, files('skill.py', 'src/main.py')));
  expect(error.code).toBe('manifest_invalid');
  expect(error.detail['field']).toBe('entry');
});

test('an entry that is a program of an image needs no file in the bundle', () => {
  expect(findEntry({ container: { image: 'localhost/a' } }, files('manifest.yaml'))).toBe('');
  expect(findEntry({ container: { dockerfile: 'docker/a' } }, files('docker/a'))).toBe('docker/a');
  expect(findEntry({ container: { image: 'localhost/a' } }, files('skill.py'))).toBe('skill.py');
});

test('a dockerfile that is not a file of the bundle is refused', () => {
  expect(() => requireDockerfile({ container: { dockerfile: 'a' } }, files('a'))).not.toThrow();
  for (const dockerfile of ['b', 'constructor']) {
    const error = errorOf(() => requireDockerfile({ container: { dockerfile } }, files('a')));
    expect(error).toMatchObject({ code: 'manifest_invalid', detail: { field: 'container.dockerfile' } });
  }
});

test('the error for a bundle without an entry lists the names that were tried', () => {
  const error = errorOf(() => findEntry({}, files('main.py')));
  expect(error.code).toBe('manifest_invalid');
  expect(error.message).toContain('skill.py, skill.ts, skill.js, skill.wasm, Dockerfile');
});
