import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GitSource } from '../../src/distribution/git/source.ts';
import { OciSource } from '../../src/distribution/oci/source.ts';
import { FileSource } from '../../src/distribution/sources/file.ts';
import { GithubSource } from '../../src/distribution/sources/github.ts';
import { HttpsSource } from '../../src/distribution/sources/https.ts';
import { NpmSource } from '../../src/distribution/sources/npm.ts';
import { openSources, parseSource } from '../../src/distribution/sources/open-source.ts';
import { SkillError } from '../../src/errors.ts';
import { clientFor } from './http/support.ts';
import { thrownBy } from '../thrown.ts';

const open = openSources({
  oci: () => new OciSource({ http: clientFor(), credentials: () => Promise.resolve(undefined) }),
  github: () => new GithubSource({ client: clientFor(), env: {} }),
  git: () => new GitSource({ client: clientFor() }),
  npm: () => new NpmSource({ client: clientFor(), findRegistry: () => Promise.resolve('') }),
  file: () => new FileSource({ folder: '/' }),
  https: () => new HttpsSource({ client: clientFor() }),
});

describe('a reference', () => {
  test.each([
    ['github:owner/repo', 'github', 'github:owner/repo', undefined],
    ['github:owner/repo/skills/pdf@v1.2.0', 'github', 'github:owner/repo/skills/pdf', 'v1.2.0'],
    ['github:Owner/Repo.JS/Skills@v1', 'github', 'github:owner/repo.js/Skills', 'v1'],
    ['github:owner/repo@feature/x', 'github', 'github:owner/repo', 'feature/x'],
    ['git+https://git.example/a/b.git#main', 'git', 'git+https://git.example/a/b.git', 'main'],
    [
      'git+https://git.example/a/b.git//skills/pdf#v1',
      'git',
      'git+https://git.example/a/b.git//skills/pdf',
      'v1',
    ],
    ['git+http://127.0.0.1:8080/a.git', 'git', 'git+http://127.0.0.1:8080/a.git', undefined],
    ['npm:left-pad', 'npm', 'npm:left-pad', undefined],
    ['npm:@scope/name@1.2.0-rc.1+build', 'npm', 'npm:@scope/name', '1.2.0-rc.1+build'],
    ['npm:@scope/name', 'npm', 'npm:@scope/name', undefined],
    ['file:./skills/pdf/', 'file', 'file:skills/pdf', undefined],
    ['file:///srv/pdf.skill', 'file', 'file:/srv/pdf.skill', undefined],
    ['file:../a b.zip', 'file', 'file:../a b.zip', undefined],
    [
      'https://skills.example#pdf',
      'https',
      'https://skills.example/.well-known/agent-skills/index.json#pdf',
      undefined,
    ],
    [
      'https://skills.example/team/',
      'https',
      'https://skills.example/team/.well-known/agent-skills/index.json',
      undefined,
    ],
    ['https://skills.example/index.json#pdf', 'https', 'https://skills.example/index.json#pdf', undefined],
    ['http://localhost:80/a.json', 'https', 'http://localhost/a.json', undefined],
  ])('%s is split, and written again in one spelling', (...row) => {
    const [text, kind, source, version] = row;
    const parsed = parseSource(text, open);
    expect(parsed).toEqual({ kind, source, ...(version === undefined ? {} : { version }) });
    const again = open(text).reference(parsed);
    expect(parseSource(again, open)).toEqual(parsed);
  });

  test.each([
    'skills/pdf',
    'ftp://skills.example',
    'github:owner',
    'github:owner/..',
    'github:owner/repo/../../other',
    'github:owner/repo//a',
    'github:owner/repo@',
    'github:owner/repo@-upload-pack=x',
    'github:owner/repo@a..b',
    'github:owner/repo?x=1',
    'github:own er/repo',
    'github:owner/repo.git',
    'git+ssh://git.example/a.git',
    'git+file:///srv/a.git',
    'git+ext::sh -c date',
    'git+http://git.example/a.git',
    'git+https://user:pass@git.example/a.git',
    'git+https://git.example/a.git?x=1',
    'git+https://git.example/../a.git',
    'git+https://git.example//a//b',
    'git+https://git.example/a.git#--output=/etc/x',
    'git+https://git.example',
    'git+https://git.example/a.git/',
    'git+https://git.example/%61.git',
    'git+https://git.example/a%2fb.git',
    'git+https://git.example./a.git',
    'npm:UPPER',
    'npm:../x',
    'npm:a/b',
    'npm:@scope',
    'npm:name@',
    'npm:name@^1.0.0',
    'npm:name@http://x',
    'file:',
    'file://host/a',
    'file:~/a',
    'file:a\u0000b',
    'file:a\u202eb',
    'https://user@skills.example',
    'https://skills.example/?q=1',
    'https://skills.example/#../a',
    'https://skills.example/#UPPER',
    'https://skills.example/%61/#a',
    'https://skills.example./#a',
    'oci://registry.example:443/a/b:1',
    'oci://registry.example./a/b:1',
    'oci://localhost:80/a/b:1',
    'http://skills.example/',
  ])('%j is refused, with an example', (text) => {
    const error = thrownBy(() => parseSource(text, open));
    expect(error.code).toBe('usage');
    expect(error.fix).toMatch(/Write/);
  });

  const anyText = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .tuple(
        fc.constantFrom(
          'github:',
          'oci://h.example/',
          'git+https://h.example/',
          'npm:',
          'file:',
          'https://h.example/',
          'http://localhost/',
        ),
        fc.string({ unit: fc.constantFrom(...Array.from('ab/.@#:?%~-_ \\\u0000é')), maxLength: 30 }),
      )
      .map((parts) => parts.join('')),
  );

  test('of any text is refused, or has one spelling that means the same', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        let parsed;
        try {
          parsed = parseSource(text, open);
        } catch (error) {
          expect(error).toBeInstanceOf(SkillError);
          return;
        }
        const spelled = open(text).reference(parsed);
        expect(parseSource(spelled, open)).toEqual(parsed);
        expect(spelled).not.toMatch(/[\p{Cc}\p{Cf}\\]/u);
      }),
      { numRuns: 2000 },
    );
  });
});
