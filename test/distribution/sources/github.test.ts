import { execFileSync } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { GithubSource } from '../../../src/distribution/sources/github.ts';
import { rejectionOf } from '../../thrown.ts';
import { tarOf } from '../../cell/images/helpers.ts';
import { Repository } from '../git/git-server.ts';
import { clientFor, serve, type TestServer } from '../http/support.ts';

const SKILL = { 'SKILL.md': '---\nname: demo\n---\n', 'scripts/run.sh': 'echo hello\n' };
/** A gigabyte of them is a megabyte when compressed. */
const ZEROS = gzipSync(Buffer.alloc(64 * 2 ** 20));
const TOKEN = 'invented-token';
const texts = (files: ReadonlyMap<string, Buffer>): Record<string, string> =>
  Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString()]));

type Change = (request: IncomingMessage, response: ServerResponse) => boolean;

interface Github extends TestServer {
  source: GithubSource;
  repository: Repository;
  archives: TestServer;
}

/** A repository behind the interface of GitHub, whose archives come from another origin. */
async function github(change: Change = () => false, env: NodeJS.ProcessEnv = {}): Promise<Github> {
  const repository = new Repository();
  repository.commit(SKILL);
  const archives = await serve((request, response) => {
    const commit = request.url?.slice(1) ?? '';
    if (change(request, response)) return;
    const args = ['archive', '--format=tar.gz', `--prefix=owner-repo-${commit.slice(0, 7)}/`, commit];
    response.end(execFileSync('/usr/bin/git', args, { cwd: repository.folder }));
  });
  const api = await serve((request, response) => {
    const [, what = '', rest = ''] = /^\/repos\/owner\/repo\/([a-z]+)[/?](.*)$/.exec(request.url ?? '') ?? [];
    if (change(request, response)) return;
    if (what === 'tarball') response.writeHead(302, { location: `${archives.origin}/${rest}` }).end();
    else if (what === 'commits') response.end(repository.git('rev-parse', `${rest}^{commit}`));
    else if (what === 'tags')
      response.end(JSON.stringify([{ name: 'v1', commit: { sha: repository.git('rev-parse', 'v1') } }]));
    else response.writeHead(404).end('{"message":"Not Found"}');
  });
  const client = clientFor({ limits: { retries: 0 } });
  return {
    ...api,
    archives,
    repository,
    source: new GithubSource({ client, env: { GITHUB_API_URL: api.origin, ...env } }),
  };
}

test('a branch becomes a commit, and the archive of the commit is delivered', async () => {
  const { source, repository } = await github();
  const { files, pinned } = await source.fetch('github:owner/repo@main');
  const commit = repository.git('rev-parse', 'HEAD');
  expect(pinned).toEqual({ kind: 'github', source: 'github:owner/repo', version: 'main', revision: commit });
  expect(texts(files)).toEqual(SKILL);
  const folder = await source.fetch(`github:owner/repo/scripts@${commit}`);
  expect(texts(folder.files)).toEqual({ 'run.sh': 'echo hello\n' });
});

test('a moved tag is seen, and the pinned commit is still delivered', async () => {
  const { source, repository } = await github();
  repository.git('tag', 'v1');
  const { pinned } = await source.fetch('github:owner/repo@v1');
  repository.commit({ 'SKILL.md': 'changed' });
  repository.git('tag', '--force', 'v1');
  const now = repository.git('rev-parse', 'HEAD');
  expect(await source.currentRevision(pinned)).toBe(now);
  expect(await source.versions(pinned)).toEqual([{ version: 'v1', revision: now }]);
  expect(texts((await source.fetchPinned(pinned)).files)).toEqual(SKILL);
});

test('the token goes to the interface and to no other origin', async () => {
  const { source, seen, archives } = await github(undefined, { GITHUB_TOKEN: TOKEN });
  await source.fetch('github:owner/repo@main');
  expect(seen.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`]);
  expect(archives.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

const isArchive = ({ url }: IncomingMessage): boolean => /^\/[\da-f]{40}$/.test(url ?? '');
const archive = (entries: Parameters<typeof tarOf>[0]): Change =>
  answer(200, gzipSync(tarOf(entries)), isArchive);
function answer(
  status: number,
  body: string | Buffer,
  isWanted: (request: IncomingMessage) => boolean = () => true,
): Change {
  return (request, response) => {
    if (!isWanted(request)) return false;
    response.writeHead(status).end(body);
    return true;
  };
}
const comment = (commit: string): Parameters<typeof tarOf>[0][number] => ({
  name: 'pax_global_header',
  type: 'g',
  text: `52 comment=${commit}\n`,
});

test.each<[what: string, change: Change, words: string]>([
  [
    'the archive of another commit',
    archive([comment('0'.repeat(40)), { name: 'a/SKILL.md', text: 'x' }]),
    'of another commit',
  ],
  ['an archive without a commit', archive([{ name: 'a/SKILL.md', text: 'x' }]), 'of another commit'],
  ['an archive with two folders', archive([{ name: 'a/x' }, { name: 'b/y' }]), 'not in the one folder'],
  [
    'an archive with a link',
    archive([{ name: 'a/x', type: '2', linkName: '/etc/passwd' }]),
    'a symbolic link',
  ],
  ['a climbing path', archive([{ name: 'a/../../x' }]), 'climbs out'],
  ['a web page as archive', answer(200, '<!doctype html>', isArchive), 'a web page'],
  [
    'a bomb',
    answer(200, Buffer.concat(Array.from({ length: 18 }, () => ZEROS)), isArchive),
    'after decompression',
  ],
  [
    'a cut archive',
    answer(200, gzipSync(tarOf([{ name: 'a/x', text: 'y' }])).subarray(0, 40), isArchive),
    'decompressed|ends',
  ],
  ['a web page as commit', answer(200, '<!doctype html>'), 'it is not a commit'],
  ['a short commit', answer(200, 'abc123'), 'it is not a commit'],
  ['not found', answer(404, '{"message":"Not Found"}'), 'answered 404'],
  ['a limit on requests', answer(403, 'API rate limit exceeded'), 'answered 403, "API rate limit exceeded"'],
  ['too many requests', answer(429, 'slow down'), 'answered 429'],
  ['a broken server', answer(500, ''), 'answered 500'],
])('a server that answers with %s is refused', async (_, change, words) => {
  const { source } = await github(change);
  const { message, code } = await rejectionOf(source.fetch('github:owner/repo@main'));
  expect(message).toMatch(new RegExp(words));
  expect(['manifest_invalid', 'skill_unavailable']).toContain(code);
});

test('the fix names the token only where it helps', async () => {
  const limited = answer(403, 'API rate limit exceeded');
  const open = await github(limited);
  expect((await rejectionOf(open.source.fetch('github:owner/repo@main'))).fix).toContain('Set GITHUB_TOKEN');
  const signedIn = await github(limited, { GITHUB_TOKEN: TOKEN });
  const error = await rejectionOf(signedIn.source.fetch('github:owner/repo@main'));
  expect(error.fix).toContain('Wait');
  expect(JSON.stringify(error.toBody())).not.toContain(TOKEN);
});

test('a redirect of the archive to a private network is refused', async () => {
  const { source } = await github((request, response) => {
    if (!request.url?.includes('tarball')) return false;
    response.writeHead(302, { location: 'https://10.0.0.1/a' }).end();
    return true;
  });
  expect(await rejectionOf(source.fetch('github:owner/repo@main'))).toMatchObject({ code: 'untrusted' });
});
