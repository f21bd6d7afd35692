import { expect, test } from 'vitest';
import { GitSource } from '../../../src/distribution/git/source.ts';
import { clientFor } from '../http/support.ts';
import { Repository, serveRepository } from './git-server.ts';

const SKILL = { 'SKILL.md': '---\nname: demo\n---\n', 'scripts/run.sh': 'echo hello\n' };
const sourceFor = (): GitSource => new GitSource({ client: clientFor() });
const texts = (files: ReadonlyMap<string, Buffer>): Record<string, string> =>
  Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString()]));

test.each(['sha1', 'sha256'] as const)(
  'a repository with %s delivers the files of a commit',
  async (format) => {
    const repository = new Repository(format);
    repository.commit({ 'old.txt': 'history' }, 'first');
    repository.git('rm', '--quiet', 'old.txt');
    const commit = repository.commit({ ...SKILL, 'other/README.md': 'not delivered with a folder' });
    const { url } = await serveRepository(repository);
    const source = sourceFor();
    const whole = await source.fetch(`git+${url}#main`);
    expect(whole.pinned).toEqual({ kind: 'git', source: `git+${url}`, version: 'main', revision: commit });
    expect(texts(whole.files)).toEqual({ ...SKILL, 'other/README.md': 'not delivered with a folder' });
    const folder = await source.fetch(`git+${url}//scripts#${commit}`);
    expect(texts(folder.files)).toEqual({ 'run.sh': 'echo hello\n' });
    expect(await source.fetch(`git+${url}`)).toMatchObject({ pinned: { revision: commit } });
  },
);
