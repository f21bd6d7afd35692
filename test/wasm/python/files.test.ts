/**
 * The virtual tree of a Python cell: what is where, who may change it, and what it costs.
 *
 * @module
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OpenOptions } from '../../../guest/wasm/python/files/contract.ts';
import { DeviceTree } from '../../../guest/wasm/python/files/devices.ts';
import { FixedTree } from '../../../guest/wasm/python/files/fixed-tree.ts';
import { Mounts, resolvePath } from '../../../guest/wasm/python/files/mounts.ts';
import { Quota, ScratchTree } from '../../../guest/wasm/python/files/scratch.ts';
import { READ } from './open-options.ts';

const CREATE: OpenOptions = { ...READ, write: true, create: true };

function codeOf(act: () => unknown): string {
  try {
    act();
    return 'done';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

function scratch(bytes = 10_000): ScratchTree {
  return new ScratchTree({ quota: new Quota(bytes), now: () => 1000 });
}

describe('scratch files', () => {
  test('hold what was written at any offset', () => {
    const file = scratch().open(['a'], CREATE);
    file.write(Buffer.from('hello'), 0);
    file.write(Buffer.from('!'), 7);
    file.write(Buffer.from('?'), undefined);
    const into = new Uint8Array(20);
    expect(file.read(into, 0)).toBe(9);
    expect(Buffer.from(into.subarray(0, 9)).toString()).toBe('hello\0\0!?');
    file.resize(2);
    file.resize(4);
    expect(file.read(into, 0)).toBe(4);
    expect(Buffer.from(into.subarray(0, 4)).toString()).toBe('he\0\0');
  });

  test('respect the quota, even if they were removed while open', () => {
    const tree = scratch(5000);
    const file = tree.open(['a'], CREATE);
    file.write(new Uint8Array(4000), 0);
    tree.removeFile(['a']);
    expect(codeOf(() => tree.open(['b'], CREATE).write(new Uint8Array(4000), 0))).toBe('nospc');
    file.close();
    expect(codeOf(() => tree.open(['b'], CREATE).write(new Uint8Array(4000), 0))).toBe('done');
  });

  test('count against the quota even if they are empty', () => {
    const tree = scratch(5000);
    const made = Array.from({ length: 100 }, (_, n) => codeOf(() => tree.open([`f${n}`], CREATE).close()));
    expect(made.at(-1)).toBe('nospc');
  });

  test('can be renamed as on other file systems', () => {
    const tree = scratch();
    tree.makeDirectory(['d']);
    tree.open(['d', 'f'], CREATE).close();
    expect(codeOf(() => tree.removeDirectory(['d']))).toBe('notempty');
    expect(codeOf(() => tree.rename(['d'], ['d', 'inside']))).toBe('inval');
    expect(codeOf(() => tree.rename(['d'], ['d', 'f']))).toBe('inval');
    tree.rename(['d', 'f'], ['g']);
    expect(tree.stat(['g']).type).toBe('file');
    expect(codeOf(() => tree.stat(['d', 'f']))).toBe('noent');
    expect(codeOf(() => tree.rename(['g'], ['d']))).toBe('isdir');
    expect(codeOf(() => tree.rename(['d'], ['g']))).toBe('notdir');
    expect(codeOf(() => tree.open(['g'], { ...CREATE, exclusive: true }))).toBe('exist');
    expect(codeOf(() => tree.open(['g'], { ...READ, directory: true }))).toBe('notdir');
    expect(codeOf(() => tree.open(['d'], CREATE))).toBe('isdir');
  });

  test('never cost more than their content, whatever is done', () => {
    const step = fc.oneof(
      fc.record({ act: fc.constant('write' as const), name: fc.constantFrom('a', 'b'), at: fc.nat(3000) }),
      fc.record({ act: fc.constant('resize' as const), name: fc.constantFrom('a', 'b'), at: fc.nat(3000) }),
      fc.record({ act: fc.constant('remove' as const), name: fc.constantFrom('a', 'b'), at: fc.nat(1) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const tree = scratch(8000);
        for (const { act, name, at } of steps) {
          codeOf(() => {
            if (act === 'remove') return tree.removeFile([name]);
            const file = tree.open([name], CREATE);
            if (act === 'write') file.write(new Uint8Array(10), at);
            else file.resize(at);
            return file.close();
          });
        }
        for (const name of ['a', 'b']) codeOf(() => tree.removeFile([name]));
        const all = tree.open(['all'], CREATE);
        expect(codeOf(() => all.resize(8000 - 512))).toBe('done');
        expect(codeOf(() => all.resize(8000))).toBe('nospc');
      }),
    );
  });
});

describe('fixed folders', () => {
  const tree = new FixedTree();
  tree.addFile(['a', 'b.txt'], 3, () => Buffer.from('abc'));

  test('can be read', () => {
    const into = new Uint8Array(2);
    expect(tree.open(['a', 'b.txt'], READ).read(into, 1)).toBe(2);
    expect(Buffer.from(into).toString()).toBe('bc');
    expect(tree.open(['a'], READ).list()).toMatchObject([{ name: 'b.txt', type: 'file' }]);
  });

  test.each([
    ['a file', () => tree.open(['a', 'b.txt'], CREATE)],
    ['a new file', () => tree.open(['a', 'new'], { ...READ, create: true })],
    ['a folder', () => tree.makeDirectory()],
    ['a name', () => tree.rename()],
    ['a time', () => tree.setModified()],
  ])('cannot be changed: %s', (_, act) => {
    expect(codeOf(act)).toBe('rofs');
  });
});

describe('paths', () => {
  test('resolve to the deepest tree, and parent folders are listed', () => {
    const mounts = new Mounts();
    const [dev, shm, deep] = [new DeviceTree(() => undefined), scratch(), scratch()];
    mounts.mount('/dev', dev);
    mounts.mount('/dev/shm', shm);
    mounts.mount('/far/away/here', deep);
    expect(mounts.locate(['dev', 'shm', 'x'])).toEqual({ tree: shm, path: ['x'] });
    expect(mounts.locate(['dev', 'null'])).toEqual({ tree: dev, path: ['null'] });
    const { tree, path } = mounts.locate(['far', 'away']);
    expect(tree.open(path, READ).list()).toMatchObject([{ name: 'here', type: 'directory' }]);
    expect(
      dev
        .open([], READ)
        .list()
        .map(({ name }) => name),
    ).toContain('shm');
  });

  test('never lead above the top', () => {
    const segment = fc.constantFrom('..', '.', '', 'a', 'b');
    fc.assert(
      fc.property(fc.array(segment), fc.array(fc.constantFrom('x', 'y')), (parts, from) => {
        const path = parts.join('/');
        fc.pre(path !== '');
        for (const found of resolvePath(from, path)) expect(['a', 'b', 'x', 'y']).toContain(found);
      }),
    );
    expect(resolvePath(['skill'], '../../etc/passwd')).toEqual(['etc', 'passwd']);
  });

  test('that are too long are refused', () => {
    expect(codeOf(() => resolvePath([], `/${'a'.repeat(300)}`))).toBe('nametoolong');
    expect(codeOf(() => resolvePath([], '/a'.repeat(300)))).toBe('nametoolong');
    expect(codeOf(() => resolvePath([], ''))).toBe('noent');
  });
});
