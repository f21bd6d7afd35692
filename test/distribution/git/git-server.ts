/** Real repositories, served by git itself behind a server on loopback. */
import { execFileSync, spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { serve, type TestServer } from '../http/support.ts';
import { tempFolder, writeFiles, type Files } from '../archives/archives.ts';

const BACKEND = '/usr/lib/git-core/git-http-backend';
/** Nothing of the machine's or the user's configuration, and the same commits in every run. */
const ENVIRONMENT = {
  PATH: '/usr/bin:/bin',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.invalid',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.invalid',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

export class Repository {
  readonly folder: string = tempFolder();

  constructor(format: 'sha1' | 'sha256' = 'sha1') {
    this.git('init', '--quiet', '--initial-branch=main', `--object-format=${format}`);
  }

  git(...args: string[]): string {
    return execFileSync('/usr/bin/git', args, {
      cwd: this.folder,
      env: ENVIRONMENT,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  }

  /** Writes an object of any content, even of content that git would not make. */
  write(type: 'blob' | 'tree' | 'commit', content: Buffer | string): string {
    const args = ['hash-object', '-t', type, '-w', '--literally', '--stdin'];
    return execFileSync('/usr/bin/git', args, {
      cwd: this.folder,
      env: ENVIRONMENT,
      input: content,
      encoding: 'utf8',
    }).trim();
  }

  /** Returns the commit. */
  commit(files: Files, message = 'change'): string {
    writeFiles(this.folder, files);
    this.git('add', '--all');
    this.git('commit', '--quiet', '--allow-empty', '--message', message);
    return this.git('rev-parse', 'HEAD');
  }
}

/** The address of the repository. `change` may answer some requests in another way. */
export async function serveRepository(
  { folder }: Repository,
  change: (request: IncomingMessage, response: ServerResponse) => boolean = () => false,
): Promise<TestServer & { url: string }> {
  const server = await serve((request, response) => {
    if (!change(request, response)) runBackend(folder, request, response);
  });
  return { ...server, url: `${server.origin}/team/skills.git` };
}

function runBackend(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const env = {
    ...ENVIRONMENT,
    GIT_PROJECT_ROOT: join(folder, '.git'),
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: url.pathname.replace('/team/skills.git', ''),
    QUERY_STRING: url.search.slice(1),
    REQUEST_METHOD: request.method ?? 'GET',
    CONTENT_TYPE: request.headers['content-type'] ?? '',
    CONTENT_LENGTH: request.headers['content-length'] ?? '',
    GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
  };
  const child = spawn(BACKEND, [], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    const answer = Buffer.concat(chunks);
    const end = answer.indexOf('\r\n\r\n');
    const lines = answer.toString('latin1', 0, end).split('\r\n');
    const headers = lines.map((line) => line.split(': ', 2) as [string, string]);
    const status = headers.find(([name]) => name === 'Status')?.[1];
    response.writeHead(status === undefined ? 200 : Number.parseInt(status, 10), Object.fromEntries(headers));
    response.end(answer.subarray(end + 4));
  });
}
