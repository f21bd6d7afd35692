/**
 * A real registry that wants to know who asks: passwords come from docker's configuration, which is only read.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HttpClient } from '../../../src/distribution/http/client.ts';
import { dockerCredentials } from '../../../src/distribution/oci/docker-config.ts';
import { parseReference } from '../../../src/distribution/oci/reference.ts';
import { OciSource } from '../../../src/distribution/oci/source.ts';
import { publishSkill } from '../../../src/distribution/publish.ts';
import { readBundle } from '../../../src/load/read-bundle.ts';
import { rejectionOf } from '../../thrown.ts';
import { RUST_ID, RUST_SKILL } from '../person-line.ts';
import { startRegistry, type Registry } from '../registries.ts';

const USER = 'demo';
const PASSWORD = 'invented-password';
/** By bcrypt, with a fixed salt. */
const HASH = '$2b$05$abcdefghijklmnopqrstuuZ6FtsH2Ib1yRx18UjCd7lNqYUCu9nj6';
const HTTP = new HttpClient({ env: {} });
let room = '';
let config = '';
let registry: Registry;

beforeAll(async () => {
  room = mkdtempSync(join(tmpdir(), 'skillcell-credentials-'));
  const users = join(room, 'users');
  writeFileSync(users, `${USER}:${HASH}\n`);
  registry = await startRegistry('distribution', join(room, 'registry'), { users });
}, 120_000);

beforeEach(() => {
  config = mkdtempSync(join(room, 'docker-'));
});

afterAll(async () => {
  await registry.stop();
  HTTP.close();
  rmSync(room, { recursive: true });
});

const encode = (text: string): string => Buffer.from(text).toString('base64');

function write(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  writeFileSync(join(config, 'config.json'), text);
  return text;
}

/** A program as `docker login` configures it, which answers what `body` prints. */
function helper(name: string, body: string): NodeJS.ProcessEnv {
  const folder = join(config, 'bin');
  mkdirSync(folder);
  const file = join(folder, `docker-credential-${name}`);
  writeFileSync(file, `#!/bin/sh\n${body}\n`);
  chmodSync(file, 0o755);
  return { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
}

async function publish(env: NodeJS.ProcessEnv = {}): Promise<string> {
  const credentials = dockerCredentials({ ...env, DOCKER_CONFIG: config });
  const { contents, digest, lock = Buffer.alloc(0) } = readBundle(RUST_SKILL);
  const skill = { name: RUST_ID, version: '1.0.0', description: '', contents, digest, lock };
  const text = `oci://${registry.host}/closed/stats`;
  const options = { http: HTTP, credentials };
  await publishSkill({ skill, requirements: [], reference: parseReference(text) }, options);
  return (await new OciSource(options).fetch(text)).pinned.source;
}

describe('a closed registry', () => {
  test.each([
    ['a name and a password', { auth: encode(`${USER}:${PASSWORD}`) }],
    ['older fields', { username: USER, password: PASSWORD }],
  ])('is used with %s from docker', async (_, entry) => {
    const before = write({ auths: { [registry.host]: entry } });
    expect(await publish()).toBe(`oci://${registry.host}/closed/stats`);
    expect(readFileSync(join(config, 'config.json'), 'utf8')).toBe(before);
  });

  test('is used with an entry under an address, as older versions wrote it', async () => {
    write({ auths: { [`https://${registry.host}/v1/`]: { auth: encode(`${USER}:${PASSWORD}`) } } });
    await expect(publish()).resolves.toContain('oci://');
  });

  test.each(['credHelpers', 'credsStore'])('is used with a program of %s', async (kind) => {
    const env = helper(
      'invented',
      `read host; [ "$1 $host" = "get ${registry.host}" ] || exit 1; echo '{"Username":"${USER}","Secret":"${PASSWORD}"}'`,
    );
    const store = kind === 'credsStore' ? 'invented' : { [registry.host]: 'invented' };
    write({ auths: { [registry.host]: {} }, [kind]: store });
    await expect(publish(env)).resolves.toContain('oci://');
  });

  test('is refused without a configuration, and with entries for other registries', async () => {
    const without = await rejectionOf(publish());
    expect(without).toMatchObject({ code: 'skill_unavailable' });
    expect(without.message).toContain('wants to know who you are');
    expect(without.fix).toContain(`docker login ${registry.host}`);
    write({ auths: { 'registry.example': { auth: encode(`${USER}:${PASSWORD}`) } } });
    expect((await rejectionOf(publish())).message).toContain('wants to know who you are');
  });

  test('refuses a wrong password, which no message repeats', async () => {
    write({ auths: { [registry.host]: { auth: encode(`${USER}:invented-wrong`) } } });
    const { code, message, fix, detail } = await rejectionOf(publish());
    expect(code).toBe('skill_unavailable');
    expect(JSON.stringify({ message, fix, detail })).not.toContain('invented-wrong');
  });

  test.each<[what: string, value: unknown]>([
    ['that is not JSON', '{'],
    ['with a list of entries', { auths: [] }],
    ['whose entry has no password', { auths: { HOST: { auth: encode('only-a-name') } } }],
    ['that names a program by a path', { credHelpers: { HOST: '../../bin/sh' } }],
    ['that names a program that is missing', { credHelpers: { HOST: 'absent' } }],
  ])('is not asked with a configuration %s', async (_, value) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    write(text.replaceAll('HOST', registry.host));
    const { code, message, fix } = await rejectionOf(publish());
    expect(code).toBe('usage');
    expect(message.length).toBeGreaterThan(20);
    expect(fix.length).toBeGreaterThan(10);
  });

  test('is not asked if the program fails or answers nonsense', async () => {
    const env = helper('invented', '[ -e "$0.second" ] && exit 3; touch "$0.second"; echo nonsense');
    write({ credHelpers: { [registry.host]: 'invented' } });
    for (let round = 0; round < 2; round++) expect((await rejectionOf(publish(env))).code).toBe('usage');
  });
});
