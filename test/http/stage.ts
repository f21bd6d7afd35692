/**
 * A real service on loopback with its own skills, for the suites in this folder.
 *
 * @module
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRuntime, parsePolicy, type Runtime, type RuntimeOptions } from '../../src/index.ts';
import { makeToken, type Scope } from '../../src/http/access-file.ts';
import { startService, type ListenOptions, type RunningService } from '../../src/http/server.ts';
import { openFolder, removeFolder, writeSkill, type SkillText } from '../write-skill.ts';

export interface StageOptions {
  skills: Record<string, SkillText>;
  policy?: string;
  /** Content of the access file, apart from the tokens. */
  limits?: Record<string, unknown>;
  listen?: Partial<ListenOptions>;
  runtime?: RuntimeOptions;
}

export interface Stage extends AsyncDisposable {
  url: string;
  folder: string;
  runtime: Runtime;
  running: RunningService;
  tokens: Record<string, string>;
  /** Sends a request with the token of that name. */
  ask: (path: string, options?: Ask) => Promise<Response>;
  execute: (skill: string, params?: unknown, options?: Ask) => Promise<Response>;
}

export interface Ask extends Omit<RequestInit, 'body'> {
  as?: string;
  json?: unknown;
}

/** Tokens by name: tenant and scopes. */
const TOKENS: Record<string, [string, Scope[]]> = {
  admin: ['operators', ['admin']],
  caller: ['acme', ['call']],
  reader: ['acme', ['read']],
  metrics: ['acme', ['metrics']],
  both: ['acme', ['call', 'read']],
  other: ['umbrella', ['call', 'read']],
};

export async function openStage(options: StageOptions): Promise<Stage> {
  const folder = openFolder();
  for (const [name, text] of Object.entries(options.skills)) addSkill(folder, name, text);
  const accessFile = join(folder, 'access.json');
  const tokens = writeAccess(accessFile, options.limits ?? {});
  const runtime = createRuntime({
    home: join(folder, 'home'),
    cwd: folder,
    ...(options.policy === undefined ? {} : { policy: parsePolicy(options.policy, { file: 'policy.yaml' }) }),
    ...options.runtime,
  });
  const running = await startService({ runtime, accessFile, ...options.listen });
  const ask: Stage['ask'] = (path, { as, json, headers, ...rest } = {}) =>
    fetch(`${running.url}${path}`, {
      ...rest,
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      headers: {
        ...(as === undefined ? {} : { authorization: `Bearer ${tokens[as] ?? as}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...(headers as Record<string, string>),
      },
    });
  return {
    url: running.url,
    folder,
    runtime,
    running,
    tokens,
    ask,
    execute: (skill, params = {}, more = {}) =>
      ask(`/v1/skills/${skill}/execute`, { method: 'POST', as: 'caller', json: { params }, ...more }),
    [Symbol.asyncDispose]: async () => {
      await running.close();
      await runtime.close();
      removeFolder(folder);
    },
  };
}

/** Writes the skills to `skills/test/<name>` in the project. */
export function addSkill(folder: string, name: string, text: SkillText): string {
  return writeSkill(folder, { ...text, id: `test/${name}` });
}

function writeAccess(file: string, limits: Record<string, unknown>): Record<string, string> {
  const made = Object.entries(TOKENS).map(([name, [tenant, scopes]]) => makeToken({ name, tenant, scopes }));
  const tokens = made.map(({ entry }) => entry);
  writeFileSync(file, JSON.stringify({ version: 1, ...limits, tokens }));
  return Object.fromEntries(made.map(({ entry, secret }) => [entry.name, secret]));
}
