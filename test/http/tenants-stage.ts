/**
 * A real service with two tenants that share nothing, for the suites about tenants.
 *
 * @module
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeToken, type Scope } from '../../src/http/access-file.ts';
import { startService, type RunningService } from '../../src/http/server.ts';
import { createRuntime, parsePolicy, type Runtime } from '../../src/index.ts';
import { LiveTenants, secretFiles, type OperatorPolicy } from '../../src/inside.ts';
import { openFolder, removeFolder, writeSkill, type SkillText } from '../write-skill.ts';
import type { Ask } from './stage.ts';

export interface TenantsStageOptions {
  skills?: Record<string, SkillText>;
  policy?: string;
  /** Added to the settings of a tenant. */
  acme?: Record<string, unknown>;
  umbrella?: Record<string, unknown>;
  /** Further files next to the file of tenants, such as policies. */
  files?: Record<string, string>;
  /** Issuers of the file of tenants. */
  issuers?: unknown[];
  /** Content of the access file, apart from the tokens. */
  limits?: Record<string, unknown>;
}

/** Tokens by name: tenant and scopes. */
const TOKENS: Record<string, [string, Scope[]]> = {
  admin: ['operators', ['admin']],
  prometheus: ['operators', ['metrics']],
  nobody: ['stranger', ['call', 'read']],
  acme: ['acme', ['call', 'read', 'metrics', 'upload']],
  umbrella: ['umbrella', ['call', 'read', 'metrics', 'upload']],
};

export class TenantsStage implements AsyncDisposable {
  /** Not in /tmp, which every cell has for itself. */
  readonly folder: string = realpathSync(mkdtempSync('/var/tmp/skillcell-tenants-'));
  readonly notes: string[] = [];
  readonly tenantsFile: string;
  readonly tokens: Record<string, string>;
  readonly tenants: LiveTenants;
  readonly runtime: Runtime;
  readonly #settings: Record<string, unknown>;
  #running: RunningService | undefined;
  policy: OperatorPolicy;

  constructor(options: TenantsStageOptions = {}) {
    const { folder } = this;
    // If the host runs as root, its cells do not.
    chmodSync(folder, 0o711);
    for (const [name, text] of Object.entries(options.skills ?? {}))
      writeSkill(folder, { ...text, id: `test/${name}` });
    this.policy = parsePolicy(options.policy ?? '{}', { file: join(folder, 'policy.yaml') });
    this.#settings = {
      version: 1,
      operators: ['operators'],
      tenants: { acme: this.#make('acme', options.acme), umbrella: this.#make('umbrella', options.umbrella) },
      ...(options.issuers ? { issuers: options.issuers } : {}),
    };
    for (const [name, text] of Object.entries(options.files ?? {})) writeFileSync(join(folder, name), text);
    this.tenantsFile = join(folder, 'tenants.yaml');
    this.write(this.#settings);
    const made = Object.entries(TOKENS).map(([name, [tenant, scopes]]) =>
      makeToken({ name, tenant, scopes }),
    );
    const access = { version: 1, ...options.limits, tokens: made.map(({ entry }) => entry) };
    writeFileSync(join(folder, 'access.json'), JSON.stringify(access));
    this.tokens = Object.fromEntries(made.map(({ entry, secret }) => [entry.name, secret]));
    this.runtime = createRuntime({
      home: join(folder, 'home'),
      cwd: folder,
      env: { OPERATORS: 'only for the operator', API_KEY: 'key of the operator' },
      policy: () => this.policy,
    });
    this.tenants = new LiveTenants({
      file: this.tenantsFile,
      policy: () => this.policy,
      own: [...secretFiles(this.policy), join(folder, 'access.json')],
      onNote: (text) => this.notes.push(text),
    });
  }

  async open(): Promise<this> {
    const { runtime, tenants, folder } = this;
    this.#running = await startService({
      runtime,
      tenants,
      accessFile: join(folder, 'access.json'),
      programs: true,
    });
    return this;
  }

  get running(): RunningService {
    if (!this.#running) throw new Error('The stage is not open');
    return this.#running;
  }

  /** Each tenant has a workspace with a file, and a folder with a secret. */
  #make(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
    const [workspace, secrets] = ['work', 'secrets'].map((kind) => join(this.folder, kind, name));
    for (const dir of [workspace, secrets]) mkdirSync(dir as string, { recursive: true });
    chmodSync(workspace as string, 0o777);
    writeFileSync(join(workspace as string, 'note.txt'), `file of ${name}`);
    writeFileSync(join(secrets as string, 'API_KEY'), `key-of-${name}-0123456789`);
    return { workspace, secrets: [{ file: secrets }], env: { REGION: `region of ${name}` }, ...more };
  }

  write(settings: unknown): void {
    writeFileSync(this.tenantsFile, JSON.stringify(settings));
  }

  /** Changes the settings of one tenant in the file; undefined removes it. */
  edit(name: string, change: Record<string, unknown> | undefined): void {
    const tenants = { ...(this.#settings['tenants'] as Record<string, object>) };
    if (change) tenants[name] = { ...tenants[name], ...change };
    else delete tenants[name];
    this.write({ ...this.#settings, tenants });
  }

  ask(
    path: string,
    { as, json, headers, ...rest }: Ask & { body?: Uint8Array<ArrayBuffer> } = {},
  ): Promise<Response> {
    return fetch(`${this.running.url}${path}`, {
      ...rest,
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      headers: {
        ...(as === undefined ? {} : { authorization: `Bearer ${this.tokens[as] ?? as}` }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...(headers as Record<string, string>),
      },
    });
  }

  async execute(
    as: string,
    skill: string,
    params: unknown = {},
  ): Promise<{ status: number; body: AnyOutcome }> {
    const answer = await this.ask(`/v1/skills/${skill}/execute`, { method: 'POST', as, json: { params } });
    return { status: answer.status, body: (await answer.json()) as AnyOutcome };
  }

  upload(as: string, text: SkillText): Promise<Response> {
    return this.put(as, archiveOf(text));
  }

  put(as: string, body: Buffer): Promise<Response> {
    return this.ask('/v1/skills', { method: 'PUT', as, body: new Uint8Array(body) });
  }

  /** Approves the skill as it is now, for a tenant or for the operator. */
  async approve(skill: string, tenant?: string): Promise<number> {
    const query = tenant === undefined ? '' : `?tenant=${tenant}`;
    const page = await this.ask(`/v1/skills/${skill}${query}`, { as: 'admin' });
    const { digest, pins } = (await page.json()) as { digest: string; pins: string[] };
    const json = { digest, pins };
    return (await this.ask(`/v1/skills/${skill}/approval${query}`, { method: 'PUT', as: 'admin', json }))
      .status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.close();
    await this.runtime.close();
    removeFolder(this.folder);
  }
}

export interface AnyOutcome {
  ok: boolean;
  result?: unknown;
  logs?: string;
  error?: { code: string; message: string; fix: string; detail: Record<string, unknown> };
  call_id?: string;
}

/** A tar.gz of a skill, as `tar -C FOLDER -cz .` makes it. */
export function archiveOf(text: SkillText): Buffer {
  const folder = openFolder();
  try {
    return execFileSync('tar', ['-C', writeSkill(folder, text), '-cz', '.'], { maxBuffer: 64 * 1024 ** 2 });
  } finally {
    removeFolder(folder);
  }
}
