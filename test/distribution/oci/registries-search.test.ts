/**
 * Catalogs in real registries, and searching them: what a result says about a skill is proven by its lock and signatures,
 * whatever the catalog says.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { afterAll, describe, expect, test } from 'vitest';
import { goProgram } from '../../../scripts/go-programs.ts';
import { HttpClient } from '../../../src/distribution/http/client.ts';
import { listInCatalog } from '../../../src/distribution/oci/catalog.ts';
import { jsonBlob, makeBlob, parseManifest, type Blob } from '../../../src/distribution/oci/manifest.ts';
import { parseReference } from '../../../src/distribution/oci/reference.ts';
import { packDocument, pushReferrers } from '../../../src/distribution/oci/referrers.ts';
import { Repository } from '../../../src/distribution/oci/registry.ts';
import { publishSkill } from '../../../src/distribution/publish.ts';
import { searchCatalogs, type SearchHit, type SearchResult } from '../../../src/distribution/search.ts';
import { readBundle } from '../../../src/load/read-bundle.ts';
import { makeKeyPair } from '../../../src/trust/signature.ts';
import {
  ATTACHMENT_TYPES,
  CATALOG_TYPE,
  MANIFEST_TYPES,
  SKILL_TYPES,
} from '../../../src/vocabulary/oci-types.ts';
import { serve } from '../http/support.ts';
import { PersonLine, RUST_ID, RUST_SKILL } from '../person-line.ts';
import { registriesForFile } from '../registries-for-file.ts';
import type { RegistryName } from '../registries.ts';

const NAMES: readonly RegistryName[] = ['docker-registry', 'distribution', 'referrers'];
const { privateKey, publicKey } = makeKeyPair();
const OPTIONS = { http: new HttpClient({ env: {} }), credentials: () => Promise.resolve(undefined) };
const PUBLISHERS = [{ name: 'us', key: publicKey }];
const { room, hostOf } = registriesForFile(NAMES, 'skillcell-search-');
afterAll(() => OPTIONS.http.close());
const BUNDLE = readBundle(RUST_SKILL);

interface Listed {
  name?: string;
  version?: string;
  description?: string;
  key?: string;
}

/** Publishes the Rust skill under a name and lists it. Returns whether the list changed. */
async function list(
  host: string,
  catalog: string,
  { name = RUST_ID, version = '1.0.0', description = 'Counts words', key = privateKey }: Listed = {},
): Promise<boolean> {
  const { contents, digest, lock = Buffer.alloc(0) } = BUNDLE;
  const skill = { name, version, description, contents, digest, lock };
  const reference = parseReference(`oci://${host}/${name}`);
  const published = await publishSkill({ skill, requirements: [], reference, key }, OPTIONS);
  const place = { skill: parseReference(published.reference), catalog: parseReference(catalog) };
  return listInCatalog(place, OPTIONS);
}

async function search(catalog: string, ...words: string[]): Promise<SearchResult> {
  const [found] = await searchCatalogs([catalog], words, { ...OPTIONS, publishers: PUBLISHERS });
  if (!found) throw new Error('Nothing was searched');
  return found;
}

async function onlyHit(catalog: string, ...words: string[]): Promise<SearchHit> {
  const { hits, error } = await search(catalog, ...words);
  expect({ error, count: hits.length }).toEqual({ error: undefined, count: 1 });
  const [hit] = hits;
  if (!hit) throw new Error('Nothing was found');
  return hit;
}

describe.each(NAMES)('a catalog in the registry %s', (registry) => {
  test('finds skills by name and description, and proves what they ask for and who signed them', async () => {
    const [host, catalog] = [hostOf(registry), `oci://${hostOf(registry)}/team/catalog`];
    expect(await list(host, catalog)).toBe(true);
    expect(await list(host, catalog, { name: 'mail/send', description: 'Sends mail' })).toBe(true);
    const hit = await onlyHit(catalog, 'WORD', 'stats');
    expect(hit).toMatchObject({ name: RUST_ID, version: '1.0.0', description: 'Counts words' });
    expect(hit.reference).toMatch(new RegExp(`^oci://${host}/${RUST_ID}:1\\.0\\.0@sha256:[0-9a-f]{64}$`));
    expect(hit.proof).toMatchObject({
      capabilities: expect.arrayContaining(['limit memory 128MiB']) as string[],
      signer: { key: publicKey },
      publisher: 'us',
    });
    const proven = hit.proof?.attested.map(({ kind, publisher }) => `${kind} ${publisher}`);
    expect(proven?.toSorted()).toEqual(['sbom undefined', 'sbom us']);
    expect((await onlyHit(catalog, 'sends')).name).toBe('mail/send');
    expect((await search(catalog)).total).toBe(2);
    expect((await search(catalog, 'words', 'mail')).total).toBe(0);
    const crane = [goProgram('crane'), 'manifest', '--insecure', `${host}/team/catalog:latest`] as const;
    const { stdout, status } = spawnSync(crane[0], crane.slice(1), { encoding: 'utf8' });
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ artifactType: CATALOG_TYPE, manifests: [{}, {}] });
  });

  test('lists the newest version of each skill', async () => {
    const [host, catalog] = [hostOf(registry), `oci://${hostOf(registry)}/versions/catalog`];
    for (const [version, isNew] of [
      ['1.9.0', true],
      ['1.10.0', true],
      ['1.10.0', false],
      ['1.2.0', false],
    ] as const)
      expect([version, await list(host, catalog, { version })]).toEqual([version, isNew]);
    expect(await onlyHit(catalog)).toMatchObject({ version: '1.10.0' });
  });
});

test('a skill is not its own catalog, and a skill is not searched as one', async () => {
  const host = hostOf('distribution');
  await expect(list(host, `oci://${host}/${RUST_ID}`)).rejects.toMatchObject({ code: 'usage' });
  const { error } = await search(`oci://${host}/${RUST_ID}:1.0.0`);
  expect(error?.message).toContain('it is not a catalog of skills');
});

describe('a catalog that lies', () => {
  const repositoryOf = (name: string): Repository =>
    new Repository(parseReference(`oci://${hostOf('referrers')}/${name}`), OPTIONS);

  /** A server with this list, and with everything else that the real registry has: real ones take no such lists. */
  async function put(name: string, manifests: unknown, more: object = {}): Promise<string> {
    const head = { schemaVersion: 2, mediaType: MANIFEST_TYPES.index, artifactType: CATALOG_TYPE };
    const text = JSON.stringify({ ...head, manifests, ...more });
    const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const headers = { accept: request.headers.accept ?? '*/*' };
      const answer = await fetch(`http://${hostOf('referrers')}${request.url}`, { headers });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      response.end(Buffer.from(await answer.arrayBuffer()));
    };
    const lying = await serve((request, response) => {
      if (request.url?.endsWith('/manifests/latest') !== true) void forward(request, response);
      else response.setHeader('content-type', MANIFEST_TYPES.index).end(text);
    });
    return `oci://${lying.origin.slice('http://'.length)}/${name}`;
  }

  function entry({ descriptor }: Blob, annotations: object): object {
    return { ...descriptor, artifactType: SKILL_TYPES.artifact, annotations };
  }

  function textsOf(name: string, more: object = {}): object {
    return {
      'org.opencontainers.image.title': name,
      'io.agentskills.skill.ref': 'registry.example/a/b:1.0.0',
      ...more,
    };
  }

  /** The manifest of the skill, as it is in another catalog of this registry. */
  async function realManifest(name: string): Promise<Blob> {
    const host = hostOf('referrers');
    await list(host, `oci://${host}/${name}`);
    const { reference } = await onlyHit(`oci://${host}/${name}`);
    const { digest, bytes, mediaType } = await repositoryOf(name).pullManifest(
      parseReference(reference).digest ?? '',
    );
    return { descriptor: { digest, mediaType, size: bytes.length }, bytes };
  }

  test('about the name of a skill proves nothing', async () => {
    const real = await realManifest('lies/name');
    const hit = await onlyHit(await put('lies/name', [entry(real, textsOf('bank/safe'))]));
    expect(hit.proof).toBeUndefined();
    expect(hit.unproven).toBe(`the catalog names it so, and it calls itself "${RUST_ID}"`);
  });

  test('about another place leads to these very bytes or nowhere', async () => {
    const real = await realManifest('lies/place');
    const hit = await onlyHit(await put('lies/place', [entry(real, textsOf(RUST_ID))]));
    expect(hit.reference).toBe(`oci://registry.example/a/b:1.0.0@${real.descriptor.digest}`);
    const other = `registry.example/a/b:1.0.0@sha256:${'0'.repeat(64)}`;
    const contradiction = entry(real, textsOf(RUST_ID, { 'io.agentskills.skill.ref': other }));
    expect((await search(await put('lies/place', [contradiction]))).total).toBe(0);
  });

  test('about a skill that it does not have sends us nowhere else', async () => {
    const elsewhere = await serve((_, response) => response.end());
    const absent = jsonBlob(MANIFEST_TYPES.image, { invented: true });
    const ref = `${elsewhere.origin.slice('http://'.length)}/a/b:1.0.0`;
    const catalog = await put('lies/absent', [
      entry(absent, textsOf('a/b', { 'io.agentskills.skill.ref': ref })),
    ]);
    const hit = await onlyHit(catalog);
    expect(hit.proof).toBeUndefined();
    expect(hit.unproven).toContain('404');
    expect(elsewhere.seen).toEqual([]);
  });

  test('with a lock of other files, or a signature of another lock, proves nothing', async () => {
    const real = await realManifest('lies/lock');
    const repository = repositoryOf('lies/lock');
    const manifest = parseManifest(real.bytes, 'a manifest');
    const layer = manifest.layers[1] ?? manifest.config;
    const read = JSON.parse(
      (await repository.pullBlob(layer, 'a lock', layer.size)).toString('utf8'),
    ) as Record<'lock' | 'signature', string>;
    const lies: [lock: string, words: string][] = [
      [read.lock.replace('128MiB', '16MiB'), 'signature'],
      [read.lock.replaceAll(BUNDLE.digest, `sha256:${'1'.repeat(64)}`), 'digest'],
    ];
    for (const [lock, words] of lies) {
      const changed = makeBlob(SKILL_TYPES.lock, Buffer.from(JSON.stringify({ ...read, lock })));
      await repository.pushBlob(changed);
      const lying = jsonBlob(MANIFEST_TYPES.image, {
        ...manifest,
        layers: [manifest.layers[0], changed.descriptor],
      });
      await repository.pushManifest(lying);
      const hit = await onlyHit(await put('lies/lock', [entry(lying, textsOf(RUST_ID))]));
      expect(hit.proof).toBeUndefined();
      expect(hit.unproven).toContain(words);
    }
  });

  test('with documents that are too large for a search proves nothing', async () => {
    const real = await realManifest('lies/large');
    const bytes = Buffer.alloc(5 * 1024 ** 2, ' ');
    const document = { artifactType: ATTACHMENT_TYPES.cyclonedx, bytes, title: 'sbom.cdx.json' };
    const packed = packDocument(document, real.descriptor);
    await pushReferrers(repositoryOf('lies/large'), real.descriptor.digest, [packed]);
    const hit = await onlyHit(await put('lies/large', [entry(real, textsOf(RUST_ID))]));
    expect(hit.proof).toBeUndefined();
    expect(hit.unproven).toContain('its documents have more than 4194304 bytes');
  });

  test('with malformed entries is searched without them', async () => {
    const real = await realManifest('lies/entries');
    const bad = [
      null,
      7,
      'text',
      {},
      entry(real, textsOf('a/b', { 'io.agentskills.skill.ref': 'not a reference' })),
      entry(real, textsOf('a\u202eb')),
      entry(real, textsOf('a/b', { 'org.opencontainers.image.description': '\u001b[2J' })),
      { ...entry(real, textsOf('a/b')), artifactType: 'application/x-other' },
      { ...entry(real, textsOf('a/b')), size: -1 },
    ];
    expect((await onlyHit(await put('lies/entries', [...bad, entry(real, textsOf(RUST_ID))]))).name).toBe(
      RUST_ID,
    );
  });

  test.each<{ what: string; manifests: unknown; more?: object; words: string }>([
    {
      what: 'another type',
      manifests: [],
      more: { artifactType: SKILL_TYPES.artifact },
      words: 'it is not a catalog of skills',
    },
    {
      what: 'no type',
      manifests: [],
      more: { artifactType: undefined },
      words: 'it is not a catalog of skills',
    },
    {
      what: 'too many entries',
      manifests: Array.from({ length: 1001 }, () => ({})),
      words: 'its field "manifests" is not valid',
    },
    { what: 'no list', manifests: {}, words: 'its field "manifests" is not valid' },
  ])('with $what is refused', async ({ manifests, more, words }) => {
    const { error, hits } = await search(await put('lies/list', manifests, more));
    expect(error?.message).toContain(words);
    expect(hits).toEqual([]);
  });
});

describe('skillcell search', () => {
  let people = 0;
  function person(): PersonLine {
    return new PersonLine(join(room(), `person-${++people}`));
  }

  /** Two catalogs in the file of the person, one of them a well-known index. */
  async function configured(who: PersonLine): Promise<Record<string, string>> {
    const host = hostOf('docker-registry');
    await list(host, `oci://${host}/cli/catalog`);
    const skills = [
      {
        name: 'word-games',
        description: 'Games with words\u001b[2J',
        type: 'skill-md',
        url: 'a.md',
        digest: `sha256:${'0'.repeat(64)}`,
        signer: 'someone',
      },
    ];
    const { origin } = await serve((_, response) => response.end(JSON.stringify({ skills })));
    const folder = join(who.folder, 'config', 'skillcell');
    mkdirSync(folder, { recursive: true });
    const catalogs = [`oci://${host}/cli/catalog`, `${origin}/`];
    writeFileSync(join(folder, 'config.yaml'), JSON.stringify({ catalogs }));
    return { XDG_CONFIG_HOME: join(who.folder, 'config') };
  }

  test('shows capabilities, signer and attestation of each result, and what is not proven', async () => {
    const who = person();
    const env = await configured(who);
    const policy = who.write('policy.yaml', JSON.stringify({ publishers: PUBLISHERS }));
    const { code, stdout, stderr } = await who.run(['search', 'word', '--policy', policy], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`${RUST_ID} 1.0.0\n`);
    expect(stdout).toMatch(/^ {2}asks for {2}nothing$/m);
    expect(stdout).toContain(`  signed by us: ${publicKey}\n`);
    expect(stdout).toMatch(/^ {2}attested {2}.*sbom: signed by us/m);
    expect(stdout).toContain('Games with words\\u001b[2J');
    expect(stdout).toMatch(/^ {2}signed by someone$/m);
    expect(stdout).toMatch(/^ {2}unproven {2}an index says it, and nothing of it is verified/m);
    const shown = await who.run(['config', 'show'], env);
    expect(shown.stdout).toMatch(/^catalogs +oci:\/\/127/m);
  });

  test('marks what the policy would refuse, and answers in JSON', async () => {
    const who = person();
    const env = await configured(who);
    const host = hostOf('docker-registry');
    const policy = who.write('policy.yaml', JSON.stringify({ sources: [{ match: `oci://${host}/text/*` }] }));
    const { stdout } = await who.run(['search', 'word', '--policy', policy, '--json'], env);
    const { ok, skills } = JSON.parse(stdout) as {
      ok: boolean;
      skills: { name: string; refused?: string }[];
    };
    expect(ok).toBe(true);
    expect(skills.map(({ name, refused }) => [name, refused?.slice(0, 8)])).toEqual([
      [RUST_ID, undefined],
      ['word-games', 'refused:'],
    ]);
  });

  test('adds exactly what it showed', async () => {
    const who = person();
    const host = hostOf('docker-registry');
    await list(host, `oci://${host}/exact/catalog`);
    const { reference } = await onlyHit(`oci://${host}/exact/catalog`, 'stats');
    const added = await who.atTerminal('y\n', 'add', reference);
    expect(added.stdout).toContain('is pinned now');
    expect(reference.endsWith(who.pin(RUST_ID).revision)).toBe(true);
  });

  test('fails for a catalog that does not answer, and still shows the others', async () => {
    const who = person();
    const host = hostOf('docker-registry');
    await list(host, `oci://${host}/alone/catalog`);
    const { code, stdout, stderr } = await who.run([
      ...['search', '--in', `oci://${host}/absent/catalog`, '--in', `oci://${host}/alone/catalog`],
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain('absent/catalog: Could not transfer');
    expect(stdout).toContain(RUST_ID);
  });

  test('needs a catalog, which a project cannot name', async () => {
    const who = person();
    const env = { XDG_CONFIG_HOME: join(who.folder, 'nothing') };
    const without = await who.run(['search', 'word'], env);
    expect(without).toMatchObject({ code: 2, stdout: '' });
    expect(without.stderr).toContain('no catalog is configured');
    const file = join(who.project, 'skillcell.config.yaml');
    writeFileSync(file, 'catalogs: [oci://registry.example/catalog]\n');
    const named = await who.run(['search', 'word'], env);
    rmSync(file);
    expect(named.code).toBe(2);
    expect(named.stderr).toContain('may not set "catalogs"');
    for (const wrong of ['file:./catalog', 'https://skills.example/#one', 'github:a/b'])
      expect((await who.run(['search', '--in', wrong])).stderr).toContain('is not a catalog');
  });
});
