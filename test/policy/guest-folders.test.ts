import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { GrantedPath } from '../../src/policy/grant.ts';
import { foldersAround, hasWritable, parentOf } from '../../src/policy/guest-folders.ts';

const path = (guest: string, more: Partial<GrantedPath> = {}): GrantedPath => ({
  host: `/host${guest}`,
  guest,
  access: 'read',
  ...more,
});
const file = (guest: string, more: Partial<GrantedPath> = {}): GrantedPath =>
  path(guest, { isFile: true, ...more });

it('the granted files of one parent share one guest folder, unless the parent itself is granted', () => {
  expect(foldersAround([path('/workspace')])).toEqual([]);
  expect(foldersAround([file('/workspace/a'), file('/workspace/b'), file('/c')])).toEqual([
    '/workspace',
    '/',
  ]);
  expect(foldersAround([path('/data'), file('/data/deep/a'), file('/database')])).toEqual(['/']);
});

it('a guest folder is writable only as far as the grant inside it', () => {
  const granted = [path('/in'), path('/in/out', { access: 'read-write' }), file('/x/a'), file('/x/b')];
  expect(['/in', '/in/out', '/x'].map((one) => hasWritable(one, granted))).toEqual([false, true, false]);
  expect(hasWritable('/x', [...granted, file('/x/c', { access: 'read-write' })])).toBe(true);
});

it('every granted file gets a guest folder', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 });
  const granted = fc.uniqueArray(fc.tuple(names, fc.boolean()), { selector: ([name]) => name.join('/') });
  fc.assert(
    fc.property(granted, (list) => {
      const filesystem = list.map(([name, isFile]) => path(`/${name.join('/')}`, { isFile }));
      const folders = filesystem.filter(({ isFile }) => !isFile).map(({ guest }) => guest);
      const madeUp = foldersAround(filesystem);
      for (const { guest, isFile } of filesystem) {
        if (!isFile) continue;
        const isInside = folders.some((one) => guest.startsWith(`${one}/`));
        expect(isInside || madeUp.includes(parentOf(guest))).toBe(true);
      }
      for (const one of madeUp) expect(folders).not.toContain(one);
    }),
  );
});
