import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GrantedPath } from '../../src/policy/grant.ts';
import { Asked, countDescriptors, Folders, grantOf } from './support.ts';

let folders: Folders;

beforeEach(() => {
  folders = new Folders();
  writeFileSync(join(folders.work, 'note.txt'), 'a note');
  writeFileSync(join(folders.work, 'secret.txt'), 'not granted');
});

afterEach(() => folders[Symbol.dispose]());

const file = (name: string, access: GrantedPath['access'], guest = `/workspace/${name}`): GrantedPath => ({
  host: join(folders.work, name),
  guest,
  access,
  isFile: true,
});

const open = (...filesystem: GrantedPath[]): Asked => new Asked(grantOf({ filesystem }), folders.bundle);

/** Numbers: the bundle, the granted paths, then the folders around them. */
const AROUND_ONE = 2;

describe('a file that is granted by itself', () => {
  it('is the only entry in a folder of its name', async () => {
    using asked = open(file('note.txt', 'read'));
    const note = await asked.open(AROUND_ONE, ['note.txt']);
    expect(await asked.text(note)).toBe('a note');
    const folder = await asked.open(AROUND_ONE, [], { directory: true });
    for (const listed of [folder, AROUND_ONE]) {
      const { entries } = await asked.value('readDir', { file: listed });
      expect(entries).toEqual([
        { name: 'note.txt', type: 'regular-file', identity: expect.stringMatching(/^[0-9a-f]{32}$/) },
      ]);
    }
    expect(await asked.text(await asked.open(folder, ['note.txt']))).toBe('a note');
    expect(await asked.value('statAt', { dir: AROUND_ONE, path: [] })).toMatchObject({ type: 'directory' });
    expect(asked.broker.used).toContainEqual({
      capability: 'filesystem',
      asked: 'read /workspace/note.txt',
      declared: 'granted',
    });
  });

  it('has no neighbours, and none can be created', async () => {
    using asked = open(file('note.txt', 'read-write'));
    const at = (name: string): Record<string, unknown> => ({ dir: AROUND_ONE, path: [name] });
    expect(await asked.code('open', at('secret.txt'))).toBe('noent');
    expect(await asked.code('statAt', at('secret.txt'))).toBe('noent');
    for (const flags of [{ create: true, write: true }, { create: true }])
      expect(await asked.code('open', { ...at('new'), flags })).toBe('rofs');
    expect(await asked.code('mkdirAt', at('new'))).toBe('rofs');
    const renamed = { ...at('note.txt'), toDir: AROUND_ONE, toPath: ['new'] };
    for (const op of ['renameAt', 'linkAt']) expect(await asked.code(op, renamed)).not.toBe('done');
    expect(await asked.code('unlinkAt', at('note.txt'))).not.toBe('done');
    expect(readdirSync(folders.work).sort()).toEqual(['note.txt', 'secret.txt']);
    expect(asked.broker.denied.map(({ asked: what }) => what)).toContain('write /workspace/new');
  });

  it('is writable only if that was granted', async () => {
    using reading = open(file('note.txt', 'read'));
    const flags = { write: true };
    expect(await reading.code('open', { dir: AROUND_ONE, path: ['note.txt'], flags })).toBe('rofs');
    using writing = open(file('note.txt', 'read-write'));
    const note = await writing.open(AROUND_ONE, ['note.txt'], flags);
    await writing.value('write', { file: note, offset: 2 }, Buffer.from('word'));
    expect(readFileSync(join(folders.work, 'note.txt'), 'utf8')).toBe('a word');
  });

  it('has its own rule inside a granted folder', async () => {
    const around = { host: folders.work, guest: '/workspace', access: 'read' } as const;
    using asked = open(around, file('note.txt', 'read-write'));
    await asked.open(1, ['note.txt'], { write: true });
    expect(await asked.code('open', { dir: 1, path: ['secret.txt'], flags: { write: true } })).toBe('rofs');
    expect(await asked.text(await asked.open(1, ['secret.txt']))).toBe('not granted');
  });

  it('shares a folder with other grants there, also at the top', async () => {
    mkdirSync(join(folders.work, 'deep'));
    writeFileSync(join(folders.work, 'deep', 'x'), 'deep');
    const inner = { host: join(folders.work, 'deep'), guest: '/deep', access: 'read' } as const;
    using asked = open(inner, file('note.txt', 'read', '/note'), file('secret.txt', 'read', '/other'));
    const { entries } = await asked.value('readDir', { file: 4 });
    expect((entries as { name: string }[]).map(({ name }) => name)).toEqual([
      'skill',
      'deep',
      'note',
      'other',
    ]);
    expect(await asked.text(await asked.open(4, ['note']))).toBe('a note');
    expect(await asked.text(await asked.open(4, ['deep', 'x']))).toBe('deep');
    expect(asked.broker.used.map(({ asked: what }) => what)).toEqual(['read /note', 'read /deep/x']);
  });

  it('leaves nothing behind', async () => {
    const before = countDescriptors();
    const folderNames = (): string[] =>
      readdirSync(tmpdir()).filter((name) => /^skillcell-\w{6}$/.test(name));
    const had = folderNames();
    using asked = open(file('note.txt', 'read'));
    await asked.open(AROUND_ONE, ['note.txt']);
    asked.broker.close();
    expect(countDescriptors()).toBe(before);
    expect(folderNames().filter((name) => !had.includes(name))).toEqual([]);
  });
});
