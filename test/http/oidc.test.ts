/**
 * Tokens of an issuer: a real issuer on loopback, and the attacks that such tokens invite.
 */
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAX_KEY_BYTES } from '../../src/http/fetch-keys.ts';
import { MAX_JWT_CHARACTERS } from '../../src/http/oidc.ts';
import { assemble, TestIssuer } from './issuer.ts';
import { TenantsStage } from './tenants-stage.ts';

let issuer: TestIssuer;
let stage: TenantsStage;

beforeEach(async () => {
  issuer = await TestIssuer.start();
  const plain = { source: 'def execute(params):\n    return "ran"' };
  stage = await new TenantsStage({ skills: { plain }, issuers: [issuer.settings()] }).open();
});

afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const statusOf = async (token: string): Promise<number> => (await stage.ask('/v1/me', { as: token })).status;

describe('a token of the issuer', () => {
  test('calls for the tenant that its claim names, and for no other', async () => {
    const token = await issuer.token();
    const me = (await (await stage.ask('/v1/me', { as: token })).json()) as { tenant: string; token: string };
    expect(me).toMatchObject({ tenant: 'acme', scopes: ['call', 'read'] });
    expect(me.token).toMatch(/^oidc:[0-9a-f]{16}$/);
    const { body } = await stage.execute(token, 'test/plain');
    expect(body.result).toBe('ran');
    const path = `/v1/receipts/${body.call_id}`;
    expect((await stage.ask(path, { as: token })).status).toBe(200);
    const other = await issuer.token({ claims: { org: 'org-2' } });
    expect((await stage.ask(path, { as: other })).status).toBe(404);
    expect((await stage.ask('/v1/receipts/verify', { as: token })).status).toBe(403);
  });

  test('fetches the keys once, and again for an unknown key, but not for every one', async () => {
    for (let at = 0; at < 5; at++) expect(await statusOf(await issuer.token())).toBe(200);
    expect(issuer.fetched).toBe(1);
    for (let at = 0; at < 10; at++)
      expect(await statusOf(await issuer.token({ kid: `unknown-${at}` }))).toBe(401);
    expect(issuer.fetched).toBeLessThanOrEqual(2);
  });

  test('stops counting when the operator takes its tenant or its claim away', async () => {
    const token = await issuer.token();
    expect(await statusOf(token)).toBe(200);
    stage.write({ version: 1, tenants: {}, issuers: [] });
    expect(await statusOf(token)).toBe(401);
  });

  test.each<[string, () => Promise<string> | string]>([
    ['without a signature', () => assemble({ alg: 'none' }, issuer.claims())],
    ['that says the algorithm "none" in other letters', () => assemble({ alg: 'nOnE' }, issuer.claims())],
    [
      'signed with the public key as a shared secret',
      () => {
        const unsigned = assemble({ alg: 'HS256', kid: 'first' }, issuer.claims()).slice(0, -1);
        const signature = createHmac('sha256', issuer.pem('first')).update(unsigned).digest('base64url');
        return `${unsigned}.${signature}`;
      },
    ],
    ['for another audience', () => issuer.token({ claims: { aud: 'other' } })],
    ['of another issuer', () => issuer.token({ claims: { iss: 'https://other.example' } })],
    ['that has expired', () => issuer.token({ claims: { exp: 1000 } })],
    ['that never expires', () => issuer.token({ claims: { exp: undefined as never } })],
    ['that is not valid yet', () => issuer.token({ claims: { nbf: Math.floor(Date.now() / 1000) + 3600 } })],
    ['without a subject', () => issuer.token({ claims: { sub: undefined as never } })],
    ['without the claim', () => issuer.token({ claims: { org: undefined } })],
    ['whose claim is unknown', () => issuer.token({ claims: { org: 'org-9' } })],
    [
      'whose claim is the name of an inherited property',
      () => issuer.token({ claims: { org: 'constructor' } }),
    ],
    ['whose claim is the name of a tenant', () => issuer.token({ claims: { org: 'acme' } })],
    ['whose claim is a list', () => issuer.token({ claims: { org: ['org-1'] } })],
    [
      'with an unknown critical header',
      () => issuer.token({ header: { crit: ['exp2'], exp2: 1 } }).catch(() => 'x.y.z'),
    ],
    [
      'with a changed claim',
      async () => {
        const [header = '', , signature = ''] = (await issuer.token()).split('.');
        const claims = Buffer.from(JSON.stringify(issuer.claims({ org: 'org-2' }))).toString('base64url');
        return `${header}.${claims}.${signature}`;
      },
    ],
    ['that is not a token at all', () => 'a.b.c'],
  ])('%s is refused', async (_, make) => {
    expect(await statusOf(await issuer.token()), 'the control').toBe(200);
    const answer = await stage.ask('/v1/me', { as: await make() });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ error: { message: 'Missing or invalid token' } });
  });

  test('signed by one key cannot claim to be signed by another', async () => {
    await issuer.addKey('second');
    expect(await statusOf(await issuer.token({ key: 'second' }))).toBe(200);
    expect(await statusOf(await issuer.token({ key: 'second', kid: 'first' }))).toBe(401);
  });

  test('with an algorithm that the operator did not allow is refused, although the issuer has such a key', async () => {
    await issuer.addKey('curve', 'ES256');
    expect(await statusOf(await issuer.token({ key: 'curve' }))).toBe(401);
  });

  test('cannot name the keys that check it', async () => {
    await using stranger = await TestIssuer.start();
    const urls = { jku: `${stranger.url}/keys`, x5u: `${stranger.url}/keys` };
    const [jwk] = (JSON.parse(stranger.published) as { keys: object[] }).keys;
    const claims = issuer.claims();
    for (const header of [urls, { jwk }, { ...urls, jwk }])
      expect(await statusOf(await stranger.token({ claims, header }))).toBe(401);
    expect(stranger.paths).toEqual([]);
  });

  test('that is too long is not looked at', async () => {
    const long = await issuer.token({ claims: { pad: 'x'.repeat(MAX_JWT_CHARACTERS) } });
    expect(await statusOf(long)).toBe(401);
    expect(issuer.fetched).toBe(0);
  });
});

describe('keys of the issuer', () => {
  test.each<[string, (response: ServerResponse) => void]>([
    ['that are too large', (response) => response.end(`{"keys": [], "pad": "${'x'.repeat(MAX_KEY_BYTES)}"}`)],
    ['that never end', (response) => response.write('{"keys": [')],
    ['that are no JSON', (response) => response.end('<html>')],
    ['that are something else', (response) => response.end('{"key": []}')],
    ['behind a redirect', (response) => response.writeHead(302, { location: '/other' }).end()],
    ['that the issuer cannot give', (response) => response.writeHead(500).end()],
  ])('%s are refused with 503, once, and nothing else stops working', async (_, respond) => {
    issuer.respond = respond;
    const token = await issuer.token();
    const answers = await Promise.all([statusOf(token), statusOf(token), statusOf(token)]);
    expect(answers).toEqual([503, 503, 503]);
    for (let at = 0; at < 5; at++) expect(await statusOf(token)).toBe(503);
    expect(issuer.fetched).toBe(1);
    expect(issuer.paths).toEqual(['/keys']);
    expect((await stage.execute('acme', 'test/plain')).status).toBe(200);
  });
});
