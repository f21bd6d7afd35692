import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { readBundle } from '../../../src/load/read-bundle.ts';
import { FileSource } from '../../../src/distribution/sources/file.ts';
import { rejectionOf } from '../../thrown.ts';
import { tempFolder, writeFiles } from '../archives/archives.ts';

const SKILL = {
  'SKILL.md': '---\nname: demo\n---\n',
  'a/b.txt': 'text',
  'skill.lock': '{}',
  'skill.sig': 'x',
};
const texts = (files: ReadonlyMap<string, Buffer>): Record<string, string> =>
  Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString()]));

function project(): { folder: string; source: FileSource } {
  const folder = tempFolder();
  writeFiles(join(folder, 'demo'), { ...SKILL, '.env': 'TOKEN=invented', 'node_modules/x/index.js': '1' });
  return { folder, source: new FileSource({ folder }) };
}

test('a folder is read by the rules of bundles, and its revision is the digest of the bundle', async () => {
  const { folder, source } = project();
  const { files, pinned } = await source.fetch('file:./demo');
  expect(texts(files)).toEqual(SKILL);
  const { digest } = readBundle(join(folder, 'demo'));
  expect(pinned).toEqual({ kind: 'file', source: 'file:demo', revision: digest });
});

test.each([
  ['a zip file', 'demo.skill', ['zip', '-qr', 'demo.skill', 'demo', '-x', '*/.env', '*/node_modules/*']],
  [
    'a tar archive',
    'demo.tar',
    ['tar', '--exclude=.env', '--exclude=node_modules', '-cf', 'demo.tar', 'demo'],
  ],
  [
    'tar with gzip',
    'demo.tgz',
    ['tar', '--exclude=.env', '--exclude=node_modules', '-czf', 'demo.tgz', 'demo'],
  ],
  [
    'tar with zstd',
    'demo.tzst',
    ['tar', '--exclude=.env', '--exclude=node_modules', '--zstd', '-cf', 'demo.tzst', 'demo'],
  ],
])('%s delivers the same files as the folder', async (_, name, [program = '', ...args]) => {
  const { folder, source } = project();
  execFileSync(program, args, { cwd: folder });
  const { files, pinned } = await source.fetch(`file:${name}`);
  expect(texts(files)).toEqual(SKILL);
  expect(await source.currentRevision(pinned)).toBe(pinned.revision);
});

test('what changed since it was pinned is refused', async () => {
  const { folder, source } = project();
  const { pinned } = await source.fetch('file:demo');
  expect((await source.fetchPinned(pinned)).pinned).toEqual(pinned);
  writeFileSync(join(folder, 'demo/a/b.txt'), 'changed');
  const error = await rejectionOf(source.fetchPinned(pinned));
  expect(error.code).toBe('manifest_drift');
  expect(error.message).toContain('is not what skills.lock.json pins');
});

test('links, pipes and missing files are refused with words of their own', async () => {
  const { folder, source } = project();
  symlinkSync('demo', join(folder, 'link'));
  symlinkSync('/etc/hostname', join(folder, 'file-link'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  mkdirSync(join(folder, 'bad'));
  writeFileSync(join(folder, 'bad/manifest.yaml'), 'name: a/b\n');
  symlinkSync('/etc/hostname', join(folder, 'bad/stolen'));
  writeFileSync(join(folder, 'page.zip'), '<html>');
  const messages = await Promise.all(
    ['link', 'file-link', 'pipe', 'bad', 'page.zip', 'nothing'].map((name) =>
      rejectionOf(source.fetch(`file:${name}`)),
    ),
  );
  expect(messages.map(({ message }) => message)).toEqual([
    expect.stringContaining('neither a folder nor a file'),
    expect.stringContaining('neither a folder nor a file'),
    expect.stringContaining('neither a folder nor a file'),
    expect.stringContaining('"stolen": a symbolic link'),
    expect.stringContaining('a web page and not an archive'),
    expect.stringContaining('there is no such file or folder'),
  ]);
});

test('reading an archive writes nothing', async () => {
  const { folder, source } = project();
  execFileSync('tar', ['-czf', 'demo.tgz', 'demo'], { cwd: folder });
  const before = readdirSync(tmpdir());
  await source.fetch('file:demo.tgz');
  expect(readdirSync(tmpdir())).toEqual(before);
});
