/**
 * Answers the challenge of a registry. Credentials go to the registry itself and to a token server that belongs to it, never
 * to any other place that the registry names.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import type { HttpAnswer, HttpClient } from '../http/client.ts';
import { badStatus } from '../http/problems.ts';
import { parseWebAddress } from '../http/web-address.ts';
import type { TransferWatch } from '../transfer-watch.ts';
import { SkillError } from '../../errors.ts';
import { quote } from '../../manifest/quote.ts';
import type { Credentials, FindCredentials, Password } from './docker-config.ts';
import { parseJsonObject } from './manifest.ts';
import { registryRefused } from './problems.ts';

const MAX_TOKEN_BYTES = 64 * 1024;
const TOKEN_MS = 60_000;
const CLIENT = 'skillcell';
/** Characters that a header may carry. */
const TOKEN = /^[\x21-\x7e]{1,32768}$/;

export interface SignIn {
  readonly http: HttpClient;
  readonly registry: URL;
  readonly find: FindCredentials;
  /** Such as `repository:skills/demo:pull`. */
  readonly scope: string;
  readonly watch?: TransferWatch | undefined;
}

/** The value of the `authorization` header for this registry. */
export async function signIn(refusal: HttpAnswer, how: SignIn): Promise<string> {
  const what = `the sign-in to ${quote(how.registry.host)}`;
  const { scheme, parameters } = parseChallenge(refusal.headers['www-authenticate'] ?? '');
  const own = await how.find(how.registry.host);
  if (scheme === 'basic') {
    if (!own || 'identityToken' in own) throw notSignedIn(how.registry.host);
    return basic(own);
  }
  const realm = parameters.get('realm');
  if (scheme !== 'bearer' || realm === undefined)
    throw registryRefused(what, 'asks for credentials in a way that is not supported');
  return askTokenServer(parseWebAddress(realm, what), { how, what, own, parameters, refusal });
}

interface TokenAsk {
  how: SignIn;
  what: string;
  own: Credentials | undefined;
  parameters: ReadonlyMap<string, string>;
  refusal: HttpAnswer;
}

async function askTokenServer(realm: URL, ask: TokenAsk): Promise<string> {
  const { how, what, parameters, refusal } = ask;
  const credentials = await credentialsFor(realm, ask);
  const shared = {
    what,
    maxBytes: MAX_TOKEN_BYTES,
    totalMs: TOKEN_MS,
    from: refusal.reach,
    watch: how.watch,
  };
  const service = parameters.get('service');
  const fields = { scope: how.scope, ...(service === undefined ? {} : { service }) };
  let answer: HttpAnswer;
  if (credentials && 'identityToken' in credentials) {
    const form = {
      ...fields,
      grant_type: 'refresh_token',
      client_id: CLIENT,
      refresh_token: credentials.identityToken,
    };
    const body = Buffer.from(new URLSearchParams(form).toString());
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    answer = await how.http.send({ ...shared, url: realm, method: 'POST', headers, body });
  } else {
    const url = new URL(realm);
    for (const [key, value] of Object.entries(fields)) url.searchParams.set(key, value);
    answer = await how.http.send({ ...shared, url, authorization: credentials && basic(credentials) });
  }
  if (answer.status === 401 && !credentials) throw notSignedIn(how.registry.host);
  if (answer.status !== 200) throw badStatus(what, answer.status, answer.body);
  const { token, access_token: other } = parseJsonObject(answer.body, what) as Record<string, unknown>;
  const text = token ?? other;
  if (typeof text !== 'string' || !TOKEN.test(text)) throw registryRefused(what, 'sent no valid token');
  return `Bearer ${text}`;
}

/**
 * The registry's credentials, for its own token server and for one that has the same ones in docker's configuration. Those of
 * another server are never used: the token that they get would go to this registry, which could use it there.
 */
async function credentialsFor(realm: URL, { how, own, what }: TokenAsk): Promise<Credentials | undefined> {
  if (!own || realm.origin === how.registry.origin || isParent(realm, how.registry)) return own;
  if (isDeepStrictEqual(await how.find(realm.host), own)) return own;
  throw new SkillError(
    'untrusted',
    `Refused ${what}: the registry sends us to the token server ${quote(realm.host)}, which gets no credentials because docker's configuration does not have the same ones for it`,
    {
      fix: `If this server belongs to the registry, copy the entry of ${quote(how.registry.host)} in docker's config.json to another one named ${quote(realm.host)}.`,
      detail: { registry: how.registry.host, server: realm.host },
    },
  );
}

/** `example.com` is the parent of `registry.example.com`; a domain with one part is nobody's parent. */
function isParent(realm: URL, registry: URL): boolean {
  const isDomain = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(realm.hostname) && !/^[\d.]+$/.test(realm.hostname);
  return (
    isDomain &&
    realm.protocol === 'https:' &&
    realm.port === '' &&
    registry.hostname.endsWith(`.${realm.hostname}`)
  );
}

function basic({ username, password }: Password): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** `Bearer realm="…",service="…"`. Parameters that occur twice are ambiguous and therefore dropped. */
function parseChallenge(text: string): { scheme: string; parameters: Map<string, string> } {
  const [, scheme = '', rest = ''] = /^([\w-]{1,32})(?: +([^\0]{0,8192}))?$/.exec(text) ?? [];
  const parameters = new Map<string, string>();
  const seen = new Set<string>();
  for (const [, key = '', value = ''] of rest.matchAll(/(?:^|[, ])([a-z_]{1,32})="([^"\\]{0,2048})"/gi)) {
    const name = key.toLowerCase();
    if (seen.has(name)) parameters.delete(name);
    else parameters.set(name, value);
    seen.add(name);
  }
  return { scheme: scheme.toLowerCase(), parameters };
}

function notSignedIn(host: string): SkillError {
  return new SkillError('skill_unavailable', `The registry ${quote(host)} wants to know who you are`, {
    fix: `Sign in: docker login ${host} (Skillcell reads docker's configuration).`,
    detail: { host },
  });
}
