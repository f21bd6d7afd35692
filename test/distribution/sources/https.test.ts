import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { digestFiles } from '../../../src/load/digest.ts';
import { HttpsSource } from '../../../src/distribution/sources/https.ts';
import { searchIndex } from '../../../src/distribution/sources/skill-index.ts';
import { rejectionOf } from '../../thrown.ts';
import { tarOf } from '../../cell/images/helpers.ts';
import { zipWith } from '../archives/archives.ts';
import { clientFor, serve, type TestServer } from '../http/support.ts';

const SKILL = '---\nname: demo\ndescription: A demo\n---\nText\n';
const hex = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const digest = (bytes: Buffer | string): string => `sha256:${hex(bytes)}`;
const texts = (files: ReadonlyMap<string, Buffer>): Record<string, string> =>
  Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString()]));
const SCHEMA = { $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json' };
const PREFIX = '/.well-known/agent-skills';

/** A site with an index and files. */
async function site(
  skills: unknown,
  files: Record<string, string | Buffer> = {},
): Promise<TestServer & { source: HttpsSource }> {
  const server = await serve((request, response) => {
    const path = request.url ?? '';
    if (path === `${PREFIX}/index.json`)
      response.end(typeof skills === 'string' ? skills : JSON.stringify({ ...SCHEMA, skills }));
    else if (path in files) response.end(files[path]);
    else response.writeHead(404).end('<html>not here</html>');
  });
  return { ...server, source: new HttpsSource({ client: clientFor({ limits: { retries: 0 } }) }) };
}

const ARTIFACT = {
  name: 'demo',
  description: 'A demo',
  type: 'skill-md',
  url: 'demo/SKILL.md',
  digest: digest(SKILL),
};
const tarball = gzipSync(
  tarOf([
    { name: 'SKILL.md', text: SKILL },
    { name: 'scripts/a.sh', text: 'x' },
  ]),
);

test('a skill of one file is delivered, and pinned with its name', async () => {
  const { source, origin } = await site([ARTIFACT], { [`${PREFIX}/demo/SKILL.md`]: SKILL });
  const { files, pinned } = await source.fetch(origin);
  expect(texts(files)).toEqual({ 'SKILL.md': SKILL });
  const place = `${origin}${PREFIX}/index.json#demo`;
  expect(pinned).toEqual({ kind: 'https', source: place, revision: digest(SKILL) });
  expect(await source.currentRevision(pinned)).toBe(pinned.revision);
  expect((await source.fetchPinned(pinned)).pinned).toEqual(pinned);
});

test.each([
  ['tar with gzip', 'demo.tar.gz', tarball],
  [
    'zip',
    'demo.zip',
    zipWith([
      { name: 'demo/SKILL.md', content: SKILL },
      { name: 'demo/scripts/a.sh', content: 'x' },
    ]),
  ],
])('an archive is delivered: %s', async (_, name, bytes) => {
  const entry = { ...ARTIFACT, type: 'archive', url: `/files/${name}`, digest: digest(bytes) };
  const { source, origin } = await site([entry], { [`/files/${name}`]: bytes });
  const { files } = await source.fetch(`${origin}#demo`);
  expect(texts(files)).toEqual({ 'SKILL.md': SKILL, 'scripts/a.sh': 'x' });
});

test.each([
  [
    'with digests',
    [
      { path: 'SKILL.md', digest: digest(SKILL) },
      { path: 'scripts/a b#?.sh', digest: digest('x') },
    ],
  ],
  ['without digests', ['SKILL.md', 'scripts/a b#?.sh']],
])('a list of files is delivered: %s', async (_, files) => {
  const served = { [`${PREFIX}/demo/SKILL.md`]: SKILL, [`${PREFIX}/demo/scripts/a%20b%23%3F.sh`]: 'x' };
  const { source, origin } = await site([{ name: 'demo', description: 'A demo', files }], served);
  const delivery = await source.fetch(`${origin}#demo`);
  expect(texts(delivery.files)).toEqual({ 'SKILL.md': SKILL, 'scripts/a b#?.sh': 'x' });
  expect(delivery.pinned.revision).toBe(
    digestFiles({ 'SKILL.md': hex(SKILL), 'scripts/a b#?.sh': hex('x') }),
  );
  expect(await source.currentRevision(delivery.pinned)).toBe(delivery.pinned.revision);
});

test('a changed skill is refused where it was pinned, with or without digests', async () => {
  for (const files of [['SKILL.md'], undefined]) {
    const entry = files ? { name: 'demo', files } : ARTIFACT;
    const before = await site([entry], { [`${PREFIX}/demo/SKILL.md`]: SKILL });
    const { pinned } = await before.source.fetch(`${before.origin}#demo`);
    const changed = `${SKILL}more`;
    const now = files ? entry : { ...ARTIFACT, digest: digest(changed) };
    const after = await site([now], { [`${PREFIX}/demo/SKILL.md`]: changed });
    const moved = { ...pinned, source: `${after.origin}${PREFIX}/index.json#demo` };
    expect(await rejectionOf(after.source.fetchPinned(moved))).toMatchObject({ code: 'manifest_drift' });
    expect(await after.source.currentRevision(moved)).not.toBe(pinned.revision);
  }
});

const files = (list: unknown): unknown[] => [{ name: 'demo', files: list }];
const archived = (bytes: Buffer): [unknown, Record<string, Buffer>] => [
  [{ ...ARTIFACT, type: 'archive', url: '/a', digest: digest(bytes) }],
  { '/a': bytes },
];
const link = gzipSync(
  tarOf([
    { name: 'SKILL.md', text: SKILL },
    { name: 'x', type: '2', linkName: '/etc/passwd' },
  ]),
);
const otherName = '---\nname: other\ndescription: x\n---\n';

test.each<[what: string, skills: unknown, served: Record<string, string | Buffer>, words: string]>([
  [
    'another file than it lists',
    [ARTIFACT],
    { [`${PREFIX}/demo/SKILL.md`]: 'changed' },
    'not the expected ones',
  ],
  ['no digest', [{ ...ARTIFACT, digest: undefined }], {}, 'no valid url with a sha256 digest'],
  ['a digest of another kind', [{ ...ARTIFACT, digest: 'md5:00' }], {}, 'no valid url with a sha256 digest'],
  ['an unknown type', [{ ...ARTIFACT, type: 'program' }], {}, 'the unknown type "program"'],
  ['a climbing file', files(['SKILL.md', '../../etc/passwd']), {}, 'climbs out'],
  ['an absolute file', files(['/etc/passwd']), {}, 'an absolute path'],
  ['an address as file', files(['https://other.example/a']), {}, 'an empty part'],
  ['a file twice', files(['SKILL.md', 'SKILL.md']), {}, 'it is there twice'],
  ['files that differ by case', files(['SKILL.md', 'skill.md']), {}, 'on some file systems'],
  [
    'too many files',
    files(Array.from({ length: 2001 }, (_, n) => `f${n}`)),
    {},
    'no valid url|no list of files',
  ],
  [
    'a file that is missing',
    files(['SKILL.md', 'gone.md']),
    { [`${PREFIX}/demo/SKILL.md`]: SKILL },
    'answered 404',
  ],
  [
    'another digest for all files',
    [{ name: 'demo', files: ['SKILL.md'], digest: digest('x') }],
    { [`${PREFIX}/demo/SKILL.md`]: SKILL },
    'the index says sha256:',
  ],
  ['a private address', [{ ...ARTIFACT, url: 'https://10.0.0.1/a' }], {}, 'Refused to transfer'],
  ['an address of another kind', [{ ...ARTIFACT, url: 'file:///etc/passwd' }], {}, 'not an https address'],
  [
    'another skill',
    [{ ...ARTIFACT, digest: digest(otherName) }],
    { [`${PREFIX}/demo/SKILL.md`]: otherName },
    'delivers the skill "other" under the name "demo"',
  ],
  ['an archive with a link', ...archived(link), 'a symbolic link'],
  ['a web page as archive', ...archived(Buffer.from('<html>')), 'a web page'],
  ['a bomb', ...archived(gzipSync(Buffer.alloc(128 * 2 ** 20))), 'after decompression'],
  ['a web page as index', '<!doctype html>', {}, 'it is a web page'],
  ['something else as index', '[]', {}, 'is refused'],
  ['half an index', '{"skills": [', {}, 'not valid JSON'],
  ['a name twice', [ARTIFACT, ARTIFACT], {}, 'names "demo" twice'],
  ['no such name', [{ ...ARTIFACT, name: 'other' }], {}, 'it has no skill "demo"'],
])('a site that offers %s is refused', async (...[, skills, served, words]) => {
  const { source, origin } = await site(skills, served);
  expect((await rejectionOf(source.fetch(`${origin}#demo`))).message).toMatch(new RegExp(words));
});

test('an index with several skills asks for a name, and one without end is cut off', async () => {
  const several = await site([ARTIFACT, { ...ARTIFACT, name: 'other' }]);
  expect((await rejectionOf(several.source.fetch(several.origin))).message).toContain('(demo, other)');
  const endless = await site(' '.repeat(5 * 2 ** 20));
  expect((await rejectionOf(endless.source.fetch(endless.origin))).message).toContain('4194304 bytes');
});

test('the other files are not requested after one has failed', async () => {
  const list = Array.from({ length: 500 }, (_, n) => `f${n}`);
  const { source, origin, seen } = await site(files(list));
  await rejectionOf(source.fetch(`${origin}#demo`));
  expect(seen.length).toBeLessThan(100);
});

test('a search finds words in names and descriptions, and says what the index states', () => {
  const index = {
    skills: [
      {
        ...ARTIFACT,
        name: 'pdf-forms',
        description: 'Fills forms',
        version: '1.2.0',
        capabilities: ['network: a.example'],
      },
      {
        ...ARTIFACT,
        name: 'mail',
        description: 'Sends forms as PDF\u001b[2J',
        signer: 'acme',
        attestations: ['study'],
      },
      { ...ARTIFACT, name: 'other', description: 'Nothing' },
      { ...ARTIFACT, name: 'NOT A NAME', description: 'pdf forms' },
      'pdf forms',
    ],
  };
  const bytes = Buffer.from(JSON.stringify(index));
  expect(searchIndex(bytes, ['pdf', 'FORMS'])).toEqual([
    { name: 'pdf-forms', description: 'Fills forms', version: '1.2.0', capabilities: ['network: a.example'] },
    {
      name: 'mail',
      description: String.raw`Sends forms as PDF\u001b[2J`,
      signer: 'acme',
      attestations: ['study'],
    },
  ]);
  expect(searchIndex(bytes, []).map(({ name }) => name)).toEqual(['mail', 'other', 'pdf-forms']);
  expect(searchIndex(bytes, ['absent'])).toEqual([]);
});
