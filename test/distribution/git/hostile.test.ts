/** Git servers and repositories that lie. Each is refused with its own sentence, and nothing is left on disk. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { GitSource } from '../../../src/distribution/git/source.ts';
import { JailedGit } from '../../../src/distribution/git/jailed-git.ts';
import { pktLine, readPktLines } from '../../../src/distribution/git/pkt-line.ts';
import { rejectionOf } from '../../thrown.ts';
import { clientFor, serve } from '../http/support.ts';
import { Repository, serveRepository } from './git-server.ts';

const sourceFor = (): GitSource => new GitSource({ client: clientFor({ limits: { retries: 0 } }) });
const SKILL = { 'SKILL.md': '---\nname: demo\n---\n' };
const NOWHERE = '0123456789abcdef0123456789abcdef01234567';

/** A commit with this tree, which git itself would not make. */
function commitOf(
  repository: Repository,
  entries: readonly [mode: string, name: string, oid: string][],
): string {
  const sorted = entries.map(([mode, name, oid]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
  );
  const tree = repository.write('tree', Buffer.concat(sorted));
  const commit = repository.write(
    'commit',
    `tree ${tree}\nauthor T <t@example.invalid> 1 +0000\ncommitter T <t@example.invalid> 1 +0000\n\nx\n`,
  );
  repository.git('update-ref', 'refs/heads/main', commit);
  return commit;
}

test.each<[what: string, entries: (blob: string) => [string, string, string][], words: string]>([
  ['a symbolic link', (blob) => [['120000', 'link', blob]], 'a symbolic link'],
  ['a submodule', () => [['160000', 'module', NOWHERE]], 'a submodule'],
  ['a climbing name', (blob) => [['100644', '..', blob]], 'git says'],
  ['a name with a slash', (blob) => [['100644', 'a/../../b', blob]], 'git says'],
  ['a folder of git', (blob) => [['100644', '.git', blob]], 'git says'],
  ['a hidden folder of git', (blob) => [['100644', '.g\u200cit', blob]], 'git says'],
  [
    'one name twice',
    (blob) => [
      ['100644', 'a', blob],
      ['100644', 'a', blob],
    ],
    'git says',
  ],
  [
    'names that differ by case',
    (blob) => [
      ['100644', 'A', blob],
      ['100644', 'a', blob],
    ],
    'on some file systems',
  ],
  ['a control character', (blob) => [['100644', 'a\u001b', blob]], 'control, invisible'],
])('a commit with %s is refused', async (_, entries, words) => {
  const repository = new Repository();
  commitOf(repository, entries(repository.write('blob', 'text')));
  const { url } = await serveRepository(repository);
  const { code, message } = await rejectionOf(sourceFor().fetch(`git+${url}#main`));
  expect(code).toBe('manifest_invalid');
  expect(message).toMatch(new RegExp(words));
});

test('a file larger than a bundle is refused, and so are too many files', async () => {
  const repository = new Repository();
  repository.commit({ ...SKILL, 'zeros.bin': Buffer.alloc(68 * 2 ** 20) });
  const { url } = await serveRepository(repository);
  expect((await rejectionOf(sourceFor().fetch(`git+${url}`))).message).toContain('more than 67108864 bytes');
  const many = new Repository();
  many.commit(Object.fromEntries(Array.from({ length: 2003 }, (_, n) => [`f${n}`, 'x'])));
  const server = await serveRepository(many);
  expect((await rejectionOf(sourceFor().fetch(`git+${server.url}`))).message).toContain(
    'more than 2002 files',
  );
});

test('attributes, filters and hooks of a repository have no effect', async () => {
  const repository = new Repository();
  const files = {
    ...SKILL,
    '.gitattributes': '*.txt filter=evil export-subst\nSKILL.md export-ignore\n',
    'a.txt': '$Format:%H$\n',
    '.gitmodules': '[submodule "a"]\n\tpath = a\n\turl = https://modules.example/a.git\n',
  };
  repository.commit(files);
  const { url } = await serveRepository(repository);
  const { files: found } = await sourceFor().fetch(`git+${url}`);
  expect(Object.fromEntries([...found].map(([path, bytes]) => [path, bytes.toString()]))).toEqual(files);
});

test('a moved branch and a moved tag are seen, and the pinned commit is still delivered', async () => {
  const repository = new Repository();
  const first = repository.commit(SKILL);
  repository.git('tag', '--annotate', '--message', 'a tag', 'v1.0.0');
  const { url } = await serveRepository(repository);
  const source = sourceFor();
  const { pinned } = await source.fetch(`git+${url}#v1.0.0`);
  expect(pinned.revision).toBe(first);
  expect(await source.currentRevision(pinned)).toBe(first);
  const second = repository.commit({ 'SKILL.md': 'changed' });
  repository.git('tag', '--force', '--annotate', '--message', 'moved', 'v1.0.0');
  expect(await source.currentRevision(pinned)).toBe(second);
  expect(await source.versions(pinned)).toEqual([{ version: 'v1.0.0', revision: second }]);
  const again = await source.fetchPinned(pinned);
  expect(again.files.get('SKILL.md')?.toString()).toBe(SKILL['SKILL.md']);
});

type Change = (request: IncomingMessage, response: ServerResponse) => boolean;
const isPack = ({ method, url }: IncomingMessage): boolean =>
  method === 'POST' && url?.endsWith('git-upload-pack') === true;
const pack = (bytes: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(pktLine('packfile\n')),
    Buffer.from((bytes.length + 5).toString(16).padStart(4, '0')),
    Buffer.from([1]),
    bytes,
    Buffer.from('0000'),
  ]);
const answering =
  (body: Buffer | string, isWanted = isPack): Change =>
  (request, response) => {
    if (!isWanted(request)) return false;
    response.end(body);
    return true;
  };
const isInfo = ({ url }: IncomingMessage): boolean => url?.includes('info/refs') === true;

test.each<[what: string, change: Change, words: string]>([
  ['a web page', answering('<!doctype html>', isInfo), 'it is a web page'],
  ['something else', answering('hello', isInfo), 'not the protocol of git'],
  ['an old protocol', answering(`${pktLine('version 1\n')}0000`, isInfo), 'version 2 of the protocol'],
  [
    'an unknown hash',
    answering(`${pktLine('version 2\n')}${pktLine('object-format=md5\n')}0000`, isInfo),
    'the unknown hash',
  ],
  ['an error', answering(pktLine('ERR not our\u001b[2J ref\n')), 'the server says "not our'],
  ['no pack', answering('0000'), 'it sends no files'],
  ['a pack that is none', answering(pack(Buffer.from('PACKnothing'))), 'git says'],
  ['a cut line', answering('00ffshort'), 'not the protocol of git'],
  [
    'an error within the pack',
    answering(Buffer.from(`${pktLine('packfile\n')}0009\u0003full`)),
    'the server says "full"',
  ],
])('a server that sends %s is refused', async (_, change, words) => {
  const repository = new Repository();
  const commit = repository.commit(SKILL);
  const { url } = await serveRepository(repository, change);
  const { message } = await rejectionOf(sourceFor().fetch(`git+${url}#${commit}`));
  expect(message).toContain(words);
  // oxlint-disable-next-line no-control-regex -- none may be in a message
  expect(message).not.toMatch(/[\u0000-\u001f]/);
});

test('the pack of another repository is refused, because it does not have the commit', async () => {
  const [honest, other] = [new Repository(), new Repository()];
  const commit = honest.commit(SKILL);
  other.commit({ 'SKILL.md': 'something else' });
  const { url } = await serveRepository(other);
  const { message } = await rejectionOf(sourceFor().fetch(`git+${url}#${commit}`));
  expect(message).toMatch(/did not send its commit|the server says/);
});

test('a damaged pack is refused', async () => {
  const repository = new Repository();
  const commit = repository.commit(SKILL);
  const packed = repository.git('pack-objects', '--all', '--stdout', '-q').length;
  expect(packed).toBeGreaterThan(0);
  const { url } = await serveRepository(
    repository,
    answering(pack(Buffer.from('PACK\0\0\0\u0002\0\0\0\u0001'.padEnd(80, 'x')))),
  );
  expect((await rejectionOf(sourceFor().fetch(`git+${url}#${commit}`))).message).toContain('git says');
});

test('a missing branch, a missing repository and a closed one are told apart', async () => {
  const repository = new Repository();
  repository.commit(SKILL);
  const { url, origin } = await serveRepository(repository, (request, response) => {
    if (request.url?.startsWith('/closed') !== true) return false;
    response.writeHead(403).end('members only');
    return true;
  });
  const source = sourceFor();
  expect((await rejectionOf(source.fetch(`git+${url}#nothing`))).message).toContain(
    'no tag or branch "nothing"',
  );
  expect((await rejectionOf(source.fetch(`git+${url}//nowhere#main`))).message).toContain('no such folder');
  expect((await rejectionOf(source.fetch(`git+${origin}/closed.git`))).message).toContain(
    'the server answered 403, "members only"',
  );
});

test('a redirect to another machine is refused', async () => {
  const { origin } = await serve((_, response) =>
    response.writeHead(302, { location: 'http://192.0.2.1/a' }).end(),
  );
  expect(await rejectionOf(sourceFor().fetch(`git+${origin}/a.git#main`))).toMatchObject({
    code: 'untrusted',
  });
});

test('nothing is written to disk, and git ends with its jail', async () => {
  const repository = new Repository();
  const commit = repository.commit(SKILL);
  const { url } = await serveRepository(repository);
  // Other tests write to the common folder.
  const own = mkdtempSync(join(tmpdir(), 'skillcell-git-'));
  vi.stubEnv('TMPDIR', own);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(own, { recursive: true });
  });
  await sourceFor().fetch(`git+${url}#${commit}`);
  expect(readdirSync(own)).toEqual([]);
  const open = JailedGit.open(Buffer.from('PACK'), { what: 'a pack', format: 'sha1' });
  expect((await rejectionOf(open)).message).toContain('git says');
});

test('git ends at once when the transfer is cancelled, however far its jail is', async () => {
  const options = { what: 'a pack', format: 'sha1' } as const;
  const before = AbortSignal.abort();
  expect(
    await rejectionOf(JailedGit.open(Buffer.from('PACK'), { ...options, signal: before })),
  ).toMatchObject({
    code: 'cancelled',
  });
  for (const pause of [0, 1, 2, 5, 10]) {
    const stop = new AbortController();
    const opening = rejectionOf(JailedGit.open(Buffer.from('PACK'), { ...options, signal: stop.signal }));
    await sleep(pause);
    stop.abort();
    expect((await opening).code).toMatch(/cancelled|manifest_invalid/);
  }
});

test('lines of the protocol are whole or refused', () => {
  expect(readPktLines(Buffer.from(`${pktLine('a\n')}00010000`))).toEqual([
    Buffer.from('a\n'),
    'delimiter',
    'flush',
  ]);
  // A body within the limits could otherwise take gigabytes of memory.
  const many = '0004'.repeat(200_001);
  for (const bad of ['zzzz', '0003', '0009a', '000', many])
    expect(readPktLines(Buffer.from(bad))).toBeUndefined();
});
