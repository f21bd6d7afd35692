/**
 * Credentials for registries from docker's configuration, which is only read: `docker login` and its credential helpers
 * write it.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../../errors.ts';
import { quote } from '../../manifest/quote.ts';

export interface Password {
  username: string;
  password: string;
}

/** A name with a password, or a token that a token server exchanges. */
export type Credentials = Password | { identityToken: string };

/** Finds the credentials for a host; undefined if there are none. */
export type FindCredentials = (host: string) => Promise<Credentials | undefined>;

const MAX_BYTES = 1024 * 1024;
const HELPER_MS = 30_000;
const HELPER_NAME = /^[\w-]{1,64}$/;
/** What a helper writes as the name of a user if the secret is an identity token. */
const TOKEN_USER = '<token>';

const entry = z.object({
  auth: z.string().optional(),
  username: z.string().optional(),
  password: z.string().optional(),
  identitytoken: z.string().optional(),
});
const config = z.object({
  auths: z.record(z.string(), entry).optional(),
  credHelpers: z.record(z.string(), z.string()).optional(),
  credsStore: z.string().optional(),
});
const answer = z.object({ Username: z.string(), Secret: z.string() });

type DockerConfig = z.infer<typeof config>;

export function dockerCredentials(env: NodeJS.ProcessEnv = process.env): FindCredentials {
  const file = join(env['DOCKER_CONFIG'] ?? join(env['HOME'] ?? homedir(), '.docker'), 'config.json');
  return async (host) => {
    const found = readConfig(file);
    if (!found) return undefined;
    const helper =
      ownValue(found.credHelpers, host) ?? (hasEntry(found, host) ? found.credsStore : undefined);
    if (helper !== undefined && helper !== '') return askHelper(helper, host, env);
    return readEntry(found, host, file);
  };
}

/** A host may be called like something that every object has, such as "constructor". */
function ownValue<Value>(record: Record<string, Value> | undefined, key: string): Value | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}

function readConfig(file: string): DockerConfig | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw unusable(file, 'it cannot be read', error);
  }
  try {
    if (text.length <= MAX_BYTES) return config.parse(JSON.parse(text));
  } catch (cause) {
    throw unusable(file, 'it is not a valid configuration', cause);
  }
  throw unusable(file, 'it is too large');
}

/** Keys are hosts, or addresses that `docker login` wrote in older versions. */
function hostOfKey(key: string): string {
  return key.replace(/^https?:\/\//, '').replace(/\/.*$/, '');
}

/** With a store, docker leaves empty entries for the hosts that the store has. */
function hasEntry({ auths, credsStore }: DockerConfig, host: string): boolean {
  return credsStore !== undefined && Object.keys(auths ?? {}).some((key) => hostOfKey(key) === host);
}

function readEntry({ auths = {} }: DockerConfig, host: string, file: string): Credentials | undefined {
  const found = ownValue(auths, host) ?? Object.entries(auths).find(([key]) => hostOfKey(key) === host)?.[1];
  if (!found) return undefined;
  if (found.identitytoken) return { identityToken: found.identitytoken };
  if (found.username && found.password) return { username: found.username, password: found.password };
  if (!found.auth) return undefined;
  const text = Buffer.from(found.auth, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon <= 0) throw unusable(file, `its entry for ${quote(host)} is not a name with a password`);
  return { username: text.slice(0, colon), password: text.slice(colon + 1).replace(/\0+$/, '') };
}

/** Runs `docker-credential-NAME get`, which is a program that the user configured. The host goes to its standard input. */
async function askHelper(
  name: string,
  host: string,
  env: NodeJS.ProcessEnv,
): Promise<Credentials | undefined> {
  if (!HELPER_NAME.test(name)) throw helperFailed(name, 'its name is not valid');
  const { code, text } = await runHelper(`docker-credential-${name}`, host, env).catch((cause: unknown) => {
    throw helperFailed(name, 'it cannot be started', cause);
  });
  if (code !== 0) {
    if (/credentials not found/i.test(text)) return undefined;
    throw helperFailed(name, `it exited with ${code ?? 'a signal'}`);
  }
  const parsed = answer.safeParse(parseOrUndefined(text));
  if (!parsed.success) throw helperFailed(name, 'its answer is not valid');
  const { Username: username, Secret: secret } = parsed.data;
  if (username === '' || secret === '') return undefined;
  return username === TOKEN_USER ? { identityToken: secret } : { username, password: secret };
}

function runHelper(
  program: string,
  host: string,
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ code: number | null; text: string }>();
  const child = spawn(program, ['get'], { stdio: ['pipe', 'pipe', 'ignore'], env, timeout: HELPER_MS });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < MAX_BYTES) text += chunk;
  });
  // A helper may end without reading its input.
  child.stdin.on('error', () => undefined);
  child.on('error', reject);
  child.on('close', (code) => resolve({ code, text }));
  child.stdin.end(host);
  return promise;
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unusable(file: string, reason: string, cause?: unknown): SkillError {
  return new SkillError('usage', `Cannot use docker's configuration ${quote(file)}: ${reason}`, {
    fix: 'Repair it, remove it, or set DOCKER_CONFIG to a folder with another config.json.',
    cause,
  });
}

function helperFailed(name: string, reason: string, cause?: unknown): SkillError {
  return new SkillError('usage', `Docker's credential helper ${quote(name)} failed: ${reason}`, {
    fix: "Sign in again with `docker login`, or correct credHelpers and credsStore in docker's config.json.",
    cause,
  });
}
