import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { publish, publishByContent, publishSync, type PublishOptions } from '../../src/load/publish.ts';
import { removeTree, removeTreeSync } from '../../src/load/remove-tree.ts';
import { openFolder, removeFolder } from '../write-skill.ts';

const folder = openFolder();
afterAll(() => removeFolder(folder));

type Publish = (target: string, make: (draft: string) => void, options?: PublishOptions) => Promise<void>;

const FORMS: readonly (readonly [name: string, publish: Publish])[] = [
  ['publishSync', async (...args) => publishSync(...args)],
  ['publish', (target, make, options) => publish(target, async (draft) => make(draft), options)],
];

function newFolder(): string {
  return mkdtempSync(join(folder, 'case-'));
}

/** Fails as on a full disk, in the middle of a folder that is already read-only. */
function failHalfway(draft: string): void {
  mkdirSync(join(draft, 'closed'), { recursive: true });
  writeFileSync(join(draft, 'closed', 'part'), 'half');
  for (const made of [join(draft, 'closed'), draft]) chmodSync(made, 0o555);
  throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
}

describe.each(FORMS)('%s', (_name, put) => {
  test('makes a complete file or folder appear under its name', async () => {
    const place = newFolder();
    await put(join(place, 'file'), (draft) => {
      expect(dirname(draft)).toBe(place);
      writeFileSync(draft, 'whole', { mode: 0o600 });
      expect(readdirSync(place)).not.toContain('file');
    });
    expect(readFileSync(join(place, 'file'), 'utf8')).toBe('whole');
    expect(statSync(join(place, 'file')).mode & 0o777).toBe(0o600);
    expect(readdirSync(place)).toEqual(['file']);
  });

  test('replaces a file', async () => {
    const file = join(newFolder(), 'file');
    for (const text of ['one', 'two']) await put(file, (draft) => writeFileSync(draft, text));
    expect(readFileSync(file, 'utf8')).toBe('two');
  });

  test('leaves nothing behind if writing the draft fails', async () => {
    const place = newFolder();
    await expect(put(join(place, 'other'), failHalfway)).rejects.toThrow('ENOSPC');
    await expect(put(join(place, 'other'), failHalfway, { hideIn: place })).rejects.toThrow('ENOSPC');
    expect(readdirSync(place)).toEqual([]);
  });

  test('fails and removes the draft if the target exists', async () => {
    const place = newFolder();
    mkdirSync(join(place, 'taken', 'by-another'), { recursive: true });
    await expect(put(join(place, 'taken'), (draft) => mkdirSync(draft))).rejects.toThrow(/ENOTEMPTY|EEXIST/);
    expect(readdirSync(place)).toEqual(['taken']);
  });

  test('can keep a target that another process published in the meantime', async () => {
    const place = newFolder();
    const target = join(place, 'shared');
    const lose = (draft: string): void => {
      mkdirSync(draft);
      mkdirSync(join(target, 'by-another'), { recursive: true });
    };
    await put(target, lose, { keepsExisting: true });
    expect(readdirSync(target)).toEqual(['by-another']);
    await put(target, failHalfway, { keepsExisting: true });
    expect(readdirSync(place)).toEqual(['shared']);
  });

  test('always fails if nothing is at the target', async () => {
    const place = newFolder();
    await expect(put(join(place, 'none'), failHalfway, { keepsExisting: true })).rejects.toThrow('ENOSPC');
    expect(readdirSync(place)).toEqual([]);
  });

  test('hides the draft in a given folder', async () => {
    const [place, elsewhere] = [newFolder(), newFolder()];
    await put(
      join(place, 'file'),
      (draft) => {
        expect(draft.startsWith(join(elsewhere, '.new-'))).toBe(true);
        writeFileSync(draft, 'whole');
        expect(readdirSync(place)).toEqual([]);
      },
      { hideIn: elsewhere },
    );
    expect([readdirSync(place), readdirSync(elsewhere)]).toEqual([['file'], []]);
  });
});

describe('publishSync', () => {
  test('leaves the last step to `place` and removes a draft that it did not move', () => {
    const target = join(newFolder(), 'file');
    const write = (draft: string): void => writeFileSync(draft, 'new');
    publishSync(target, write, { place: () => undefined });
    expect(readdirSync(dirname(target))).toEqual([]);
    publishSync(target, write, { place: (draft) => renameSync(draft, `${target}.moved`) });
    expect(readdirSync(dirname(target))).toEqual(['file.moved']);
  });
});

describe('publishByContent', () => {
  test('names a file by its content', async () => {
    const place = newFolder();
    const made = await publishByContent(
      place,
      async (draft) => {
        await writeFile(draft, 'content');
        return { length: 7 };
      },
      ({ length }) => `file-${length}`,
    );
    expect(made).toEqual({ length: 7 });
    expect(readdirSync(place)).toEqual(['file-7']);
  });

  test('leaves nothing behind on failure', async () => {
    const place = newFolder();
    const made = publishByContent(
      place,
      async (draft) => {
        await mkdir(draft);
        throw new Error('ENOSPC');
      },
      () => 'file',
    );
    await expect(made).rejects.toThrow('ENOSPC');
    expect(readdirSync(place)).toEqual([]);
  });
});

describe('removal of a tree', () => {
  const REMOVALS = [
    ['that is synchronous', async (path: string) => removeTreeSync(path)],
    ['that is asynchronous', removeTree],
  ] as const;

  test.each(REMOVALS)('%s also removes folders deeper than any path may be long', async (_name, remove) => {
    const top = join(newFolder(), 'top');
    let inner = newFolder();
    writeFileSync(join(inner, 'file'), 'x');
    for (let level = 0; level < 1500; level++) {
      const outer = join(folder, `level-${level}`);
      mkdirSync(outer);
      writeFileSync(join(outer, 'file'), 'x');
      renameSync(inner, join(outer, 'folder'));
      inner = outer;
    }
    renameSync(inner, top);
    await remove(top);
    expect(existsSync(top)).toBe(false);
  });

  test.each(REMOVALS)(
    '%s also removes folders without permissions, whatever their names are',
    async (_name, remove) => {
      const top = join(newFolder(), 'top');
      const odd = Buffer.concat([Buffer.from(`${top}/`), Buffer.from([0xff, 0xfe])]);
      mkdirSync(top);
      mkdirSync(odd);
      writeFileSync(Buffer.concat([odd, Buffer.from('/file')]), 'x');
      chmodSync(odd, 0o555);
      chmodSync(top, 0o555);
      await remove(top);
      await remove(top);
      expect(existsSync(top)).toBe(false);
    },
  );
});
