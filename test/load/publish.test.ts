import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { publish } from '../../src/load/publish.ts';
import { openFolder, removeFolder } from '../write-skill.ts';

const folder = openFolder();
afterAll(() => removeFolder(folder));

test('a file or folder appears whole under its name', () => {
  publish(join(folder, 'file'), (draft) => writeFileSync(draft, 'whole'));
  expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('whole');
});

test('a draft that could not be written whole is removed', () => {
  const before = readdirSync(folder);
  const fail = (): void =>
    publish(join(folder, 'other'), (draft) => {
      mkdirSync(draft);
      writeFileSync(join(draft, 'part'), 'half');
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
    });
  expect(fail).toThrow('ENOSPC');
  expect(readdirSync(folder)).toEqual(before);
});

test('a draft whose place is taken is removed', () => {
  mkdirSync(join(folder, 'taken', 'by-another'), { recursive: true });
  const before = readdirSync(folder);
  expect(() => publish(join(folder, 'taken'), (draft) => mkdirSync(draft))).toThrow(/ENOTEMPTY|EEXIST/);
  expect(readdirSync(folder)).toEqual(before);
});
