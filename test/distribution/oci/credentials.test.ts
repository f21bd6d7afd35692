/**
 * Which credentials of docker's configuration a registry gets, whatever it asks for.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dockerCredentials } from '../../../src/distribution/oci/docker-config.ts';
import { OciSource } from '../../../src/distribution/oci/source.ts';
import { openFolder } from '../../write-skill.ts';
import { clientFor, serve } from '../http/support.ts';
import { refusalOf } from '../machine.ts';

const auth = (text: string): { auth: string } => ({ auth: Buffer.from(text).toString('base64') });

/** A registry that sends clients to the token server of another one; each says what it was sent. */
async function twoServers(): Promise<{ evil: string; other: string; stolen: string[]; asked: string[] }> {
  const [stolen, asked]: [string[], string[]] = [[], []];
  const other = await serve((request, response) => {
    asked.push(request.headers.authorization ?? 'nothing');
    response.writeHead(200).end(JSON.stringify({ token: 'token-of-the-other' }));
  });
  const evil = await serve((request, response) => {
    stolen.push(request.headers.authorization ?? 'nothing');
    response.writeHead(401, { 'www-authenticate': `Bearer realm="${other.origin}/token"` }).end();
  });
  return { evil: `127.0.0.1:${evil.port}`, other: `127.0.0.1:${other.port}`, stolen, asked };
}

function sourceWith(config: object): OciSource {
  const folder = openFolder();
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  return new OciSource({ http: clientFor(), credentials: dockerCredentials({ DOCKER_CONFIG: folder }) });
}

test('a registry gets no token that the credentials of another one pay for', async () => {
  const { evil, other, stolen, asked } = await twoServers();
  const source = sourceWith({ auths: { [other]: auth('me:invented') } });
  await refusalOf(source.fetch(`oci://${evil}/private/skill:1.0.0`));
  expect(asked).toEqual(['nothing']);
  expect(stolen).toEqual(['nothing', 'Bearer token-of-the-other']);
});

test('a registry with credentials of its own gets no token of another account', async () => {
  const { evil, other, stolen, asked } = await twoServers();
  const source = sourceWith({ auths: { [other]: auth('me:invented'), [evil]: auth('guest:other') } });
  const error = await refusalOf(source.fetch(`oci://${evil}/private/skill:1.0.0`));
  expect(error.message).toContain('gets no credentials');
  expect({ stolen, asked }).toEqual({ stolen: ['nothing'], asked: [] });
});

test('a token server gets the credentials of the registry if a person copied them to it, as the fix says', async () => {
  const { evil, other, asked } = await twoServers();
  const source = sourceWith({ auths: { [other]: auth('me:invented'), [evil]: auth('me:invented') } });
  await refusalOf(source.fetch(`oci://${evil}/private/skill:1.0.0`));
  expect(asked).toEqual([`Basic ${auth('me:invented').auth}`]);
});

test('a host with the name of something that every object has, has no credentials', async () => {
  const folder = openFolder();
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ auths: {}, credHelpers: {} }));
  expect(await dockerCredentials({ DOCKER_CONFIG: folder })('constructor')).toBeUndefined();
});
