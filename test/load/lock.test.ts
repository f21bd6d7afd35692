import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digestFiles, sha256 } from '../../src/load/digest.ts';
import { compareLock, formatLock, makeLock, parseLock } from '../../src/load/lock.ts';
import type { Lock } from '../../src/load/lock.ts';
import type { FileDigests } from '../../src/load/bundle.ts';
import { errorOf } from './helpers.ts';

const CAPABILITIES = ['env A', 'network https://api.x.io:443'];
const FILES = { 'data/a.json': sha256('a'), 'skill.py': sha256('s') };

function lockOf(files: FileDigests, capabilities = CAPABILITIES): Lock {
  const inspection = {
    modules: [
      { value: 'json', at: 'skill.py:2' },
      { value: 'csv', at: 'skill.py:1' },
      { value: 'json', at: 'b.py:9' },
    ],
    interfaces: [],
    env: [{ value: 'A', at: 'skill.py:3' }],
    hosts: [],
    unparsed: [],
  };
  return makeLock({ files, digest: digestFiles(files), capabilities, inspection });
}

const visible = fc.stringMatching(/^[a-z0-9_./é ]{1,20}$/);
const files = fc.dictionary(visible, fc.string().map(sha256), { maxKeys: 10 });

describe('skill.lock', () => {
  test('is readable and has a fixed order', () => {
    const text = formatLock(lockOf({ 'skill.py': FILES['skill.py'], 'data/a.json': FILES['data/a.json'] }));
    expect(text).toBe(formatLock(lockOf(FILES)));
    expect(text.endsWith('}\n')).toBe(true);
    expect(JSON.parse(text)).toEqual({
      version: 1,
      digest: digestFiles(FILES),
      files: FILES,
      capabilities: CAPABILITIES,
      inspection: { modules: ['csv', 'json'], interfaces: [], env: ['A'], hosts: [] },
    });
  });

  test('survives a round trip through its text', () => {
    fc.assert(
      fc.property(files, fc.array(visible), (files, capabilities) => {
        const lock = lockOf(files, capabilities);
        expect(parseLock(formatLock(lock))).toEqual(lock);
        expect(() => compareLock(lock, files, lock.capabilities)).not.toThrow();
      }),
    );
  });

  test('pins the digest of an image, and nothing that is not a digest', () => {
    const image = `sha256:${sha256('image')}`;
    const lock = { ...lockOf(FILES), image };
    expect(parseLock(formatLock(lock))).toEqual(lock);
    for (const bad of ['latest', '', `sha512:${sha256('')}`, `${image}0`]) {
      const error = errorOf(() => parseLock(formatLock({ ...lock, image: bad })));
      expect(error.code).toBe('manifest_invalid');
      expect(error.message).toContain('image');
    }
  });

  test('records findings of any length and text and stays readable', () => {
    const odd = { value: `\n\u0000${'x'.repeat(100_000)}`, at: 'skill.py:1' };
    const inspection = { modules: [odd], interfaces: [], env: [odd], hosts: [odd], unparsed: [] };
    const lock = makeLock({ files: FILES, digest: digestFiles(FILES), capabilities: [], inspection });
    expect(parseLock(formatLock(lock))).toEqual(lock);
  });

  test.each([
    ['invalid JSON', () => '{'],
    ['another version', () => formatLock({ ...lockOf(FILES), version: 2 as 1 })],
    ['an unknown key', () => JSON.stringify({ ...lockOf(FILES), extra: 1 })],
    ['a digest of another list', () => formatLock({ ...lockOf(FILES), files: {} })],
    ['an invalid file digest', () => formatLock(lockOf({ a: 'xyz' }))],
    ['a capability with terminal controls', () => formatLock(lockOf(FILES, ['env \u001b[2J']))],
    ['too much text', () => ' '.repeat(5 * 1024 * 1024)],
  ])('is refused with %s', (_, text) => {
    const error = errorOf(() => parseLock(text()));
    expect(error.code).toBe('manifest_invalid');
    expect(error.message).toContain('skill.lock');
  });

  test('never crashes the parser, whatever it contains', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(errorOf(() => parseLock(text)).code).toBe('manifest_invalid');
      }),
    );
  });
});

describe('compareLock', () => {
  test('accepts an unchanged bundle', () => {
    expect(() => compareLock(lockOf(FILES), FILES, CAPABILITIES)).not.toThrow();
  });

  test('names changed, missing and unlisted files', () => {
    const now = { 'skill.py': sha256('other'), 'new.py': sha256('n') };
    const error = errorOf(() => compareLock(lockOf(FILES), now, CAPABILITIES));
    expect(error.code).toBe('manifest_drift');
    expect(error.message).toContain('changed: skill.py; missing: data/a.json; unlisted: new.py');
    expect(error.detail).toMatchObject({
      changed: ['skill.py'],
      missing: ['data/a.json'],
      unlisted: ['new.py'],
    });
  });

  test('shows what the manifest now asks for', () => {
    const error = errorOf(() => compareLock(lockOf(FILES), FILES, ['env A', 'network evil.example:443']));
    expect(error.code).toBe('manifest_drift');
    expect(error.message).toContain('+ network evil.example:443, - network https://api.x.io:443');
  });

  test('keeps the message short and the detail complete', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, sha256('')]));
    const error = errorOf(() => compareLock(lockOf({}), many, CAPABILITIES));
    expect(error.message).toContain('and 40 more');
    expect(error.detail['unlisted']).toHaveLength(50);
  });

  test('finds any single difference between two lists of files', () => {
    fc.assert(
      fc.property(files, files, (locked, now) => {
        const same = digestFiles(locked) === digestFiles(now);
        if (same) compareLock(lockOf(locked), now, CAPABILITIES);
        else
          expect(errorOf(() => compareLock(lockOf(locked), now, CAPABILITIES)).code).toBe('manifest_drift');
      }),
    );
  });
});
