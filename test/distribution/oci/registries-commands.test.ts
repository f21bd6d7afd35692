/**
 * What the commands of distribution refuse, and what `--yes` never accepts.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { removeTreeSync } from '../../../src/load/remove-tree.ts';
import { makeKeyPair } from '../../../src/trust/signature.ts';
import { OWN_ID, PersonLine } from '../person-line.ts';
import { startRegistry, type Registry } from '../registries.ts';

const KEYS = { ours: makeKeyPair(), other: makeKeyPair() };
let room = '';
let registry: Registry;
let people = 0;

beforeAll(async () => {
  // Cells of a root host are not root, and have to reach the homes.
  room = mkdtempSync(join(tmpdir(), 'skillcell-commands-'));
  chmodSync(room, 0o711);
  registry = await startRegistry('distribution', join(room, 'registry'));
}, 120_000);

afterAll(async () => {
  await registry.stop();
  removeTreeSync(room);
});

function person(): PersonLine {
  const folder = join(room, `person-${++people}`);
  mkdirSync(folder, { mode: 0o711 });
  return new PersonLine(folder);
}

/** The rule of an operator who allows everything. */
function allowing(who: PersonLine): string[] {
  return ['--yes', '--policy', who.write('policy.yaml', JSON.stringify({ sources: [{ match: '*' }] }))];
}

/** Writes and publishes a version of a skill with these capabilities. */
async function publish(
  author: PersonLine,
  {
    version,
    to,
    capabilities = '{}',
    key = KEYS.ours,
  }: { version: string; to: string; capabilities?: string; key?: typeof KEYS.ours },
): Promise<void> {
  const folder = author.writeSkill(version);
  const manifest = join(folder, 'manifest.yaml');
  const text = readFileSync(manifest, 'utf8');
  writeFileSync(manifest, text.replace('capabilities: {}', `capabilities: ${capabilities}`));
  await author.ok('publish', folder, to, '--key', author.write('key.pem', key.privateKey));
}

async function tagsOf(name: string): Promise<unknown> {
  return (await fetch(`http://${registry.host}/v2/${name}/tags/list`)).json();
}

describe('publish', () => {
  test('locks a skill without a lock, and refuses one that differs from its lock', async () => {
    const author = person();
    const folder = author.writeSkill('1.0.0');
    const to = `oci://${registry.host}/publish/drift`;
    const first = await author.run(['publish', folder, to]);
    expect(first).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('skill.lock, because') as string,
    });
    const before = await tagsOf('publish/drift');
    writeFileSync(join(folder, 'src/lib.rs'), '// other\n');
    expect(await author.refused('manifest_drift', 'publish', folder, to)).toContain('src/lib.rs');
    expect(await tagsOf('publish/drift')).toEqual(before);
  });

  test.each([
    ['a place that is not a registry', ['./somewhere'], 'is not a reference'],
    ['a digest', [`oci://HOST/a/b@sha256:${'0'.repeat(64)}`], 'cannot have a digest'],
    ['a key that is missing', ['oci://HOST/a/b', '--key', 'absent.pem'], 'absent.pem'],
    ['a key that is not one', ['oci://HOST/a/b', '--key', 'notes.txt'], 'key'],
    ['a study that is not one', ['oci://HOST/a/b', '--key', 'KEY', '--study', 'notes.txt'], 'study'],
    ['a study without a key', ['oci://HOST/a/b', '--study', 'study.json'], 'only with a signature'],
    ['an attestation that is not one', ['oci://HOST/a/b', '--attach', 'notes.txt'], 'Sigstore bundle'],
    [
      'a catalog that is not one',
      ['oci://HOST/a/b', '--catalog', 'https://a.example/'],
      'is not a reference',
    ],
    [
      'a catalog that is the skill',
      ['oci://HOST/a/b', '--catalog', 'oci://HOST/a/b:latest'],
      'cannot be its own catalog',
    ],
  ])('refuses %s, and pushes nothing', async (_, words, says) => {
    const author = person();
    const folder = author.writeSkill('1.0.0');
    await author.ok('lock', folder);
    writeFileSync(join(author.project, 'notes.txt'), 'notes');
    writeFileSync(join(author.project, 'study.json'), '{}');
    const key = author.write('key.pem', KEYS.ours.privateKey);
    const args = words.map((word) => word.replaceAll('HOST', registry.host).replace('KEY', key));
    const { code, stderr } = await author.run(['publish', folder, ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
    expect((await fetch(`http://${registry.host}/v2/a/b/tags/list`)).status).toBe(404);
  });
});

describe('--yes, where the policy allows the source', () => {
  test('accepts a new version that asks for the same', async () => {
    const [author, who, to] = [person(), person(), `oci://${registry.host}/yes/same`];
    await publish(author, { version: '1.0.0', to });
    await who.ok('add', to, ...allowing(who));
    await publish(author, { version: '1.1.0', to });
    expect(await who.ok('outdated')).toContain('1.1.0');
    await who.ok('update', ...allowing(who));
    expect(who.pin().version).toBe('1.1.0');
  });

  test('never accepts more capabilities, which a person is shown', async () => {
    const [author, who, to] = [person(), person(), `oci://${registry.host}/yes/more`];
    await publish(author, { version: '1.0.0', to });
    await who.ok('add', to, ...allowing(who));
    const capabilities = '{ network: [{ host: api.example.com }] }';
    await publish(author, { version: '1.1.0', to, capabilities });
    const said = await who.refused('approval_required', 'update', ...allowing(who));
    expect(said).toContain('--yes never accepts more capabilities');
    const shown = await who.atTerminal('n\n', 'update');
    expect(shown).toMatchObject({ code: 5 });
    expect(shown.stdout).toContain('+ network api.example.com');
    expect(who.pin().version).toBe('1.0.0');
  });

  test('never accepts another signer', async () => {
    const [author, who, to] = [person(), person(), `oci://${registry.host}/yes/signer`];
    await publish(author, { version: '1.0.0', to });
    await who.ok('add', to, ...allowing(who));
    await publish(author, { version: '1.1.0', to, key: KEYS.other });
    await who.refused('signature_invalid', 'update', ...allowing(who));
    const named = ['--new-signer', OWN_ID];
    const said = await who.refused('approval_required', 'update', ...named, ...allowing(who));
    expect(said).toContain('--yes never accepts another signer');
  });
});

test('the same name from another source is refused until the pin is removed', async () => {
  const [author, who] = [person(), person()];
  const to = `oci://${registry.host}/source/one`;
  await publish(author, { version: '1.0.0', to });
  await who.ok('add', to, ...allowing(who));
  const copy = join(who.folder, 'copy');
  cpSync(join(author.folder, 'author/own_stats'), copy, { recursive: true });
  const said = await who.refused('untrusted', 'add', `file:${copy}`, ...allowing(who));
  expect(said).toContain(`is pinned from "${to}"`);
  await who.ok('remove', OWN_ID);
  await who.ok('add', `file:${copy}`, ...allowing(who));
  expect(who.pin().source).toBe(`file:${copy}`);
});

test('verify with --json prints one JSON object, also for a skill that nobody signed', async () => {
  const [author, to] = [person(), `oci://${registry.host}/verify/unsigned`];
  await author.ok('publish', author.writeSkill('1.0.0'), to);
  const { code, stdout, stderr } = await author.run(['verify', to, '--json']);
  expect(code).toBe(5);
  expect(JSON.parse(stdout === '' ? stderr : stdout)).toMatchObject({ error: { code: 'signature_invalid' } });
});

test('a server with a certificate of an own authority is used once the authority is named', async () => {
  const who = person();
  const [key, cert] = [join(who.folder, 'tls.pem'), join(who.folder, 'ca.pem')];
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const names = ['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const made = spawnSync('openssl', ['req', ...options, ...names, '-keyout', key, '-out', cert]);
  expect(made.status).toBe(0);
  const skills = [{ name: 'offered', description: 'An offer.', files: ['SKILL.md'] }];
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) =>
    response.end(JSON.stringify({ skills })),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const words = ['search', '--in', `https://127.0.0.1:${(server.address() as AddressInfo).port}/`];
  const without = await who.run(words);
  expect(without.code).toBe(1);
  expect(without.stderr).toMatch(/self.signed certificate/);
  const named = await who.run(words, { NODE_EXTRA_CA_CERTS: cert });
  expect(named).toMatchObject({ code: 0, stdout: expect.stringContaining('offered') as string });
});
