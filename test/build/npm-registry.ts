/** A package registry on loopback in a process of its own, because a build blocks this one. */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

const SERVER = `
const { readFileSync } = require('node:fs');
const folder = process.argv[1];
const server = require('node:http').createServer((request, response) => {
  const name = request.url.slice(1).replaceAll('/', '');
  try {
    const body = readFileSync(folder + '/' + name, name.endsWith('.tgz') ? undefined : 'utf8');
    const base = 'http://127.0.0.1:' + server.address().port;
    response.end(typeof body === 'string' ? body.replaceAll('BASE', base) : body);
  } catch {
    response.writeHead(404).end('{}');
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

export interface NpmPackage {
  files: Record<string, string>;
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
  version?: string;
}

/** Adds a version of a package to the folder of a registry; 1.0.0 replaces the package, others are added to it. */
export function addPackage(
  folder: string,
  name: string,
  { files, scripts = {}, dependencies = {}, version = '1.0.0' }: NpmPackage,
): void {
  const source = join(folder, `${name}-source`, 'package');
  const described = { name, version, type: 'module', main: 'main.js', scripts, dependencies };
  for (const [path, text] of Object.entries({ ...files, 'package.json': JSON.stringify(described) })) {
    mkdirSync(dirname(join(source, path)), { recursive: true });
    writeFileSync(join(source, path), text);
  }
  const tarball = join(folder, `${name}-${version}.tgz`);
  execFileSync('tar', ['-czf', tarball, '-C', dirname(source), 'package']);
  const integrity = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
  const dist = { tarball: `BASE/${name}-${version}.tgz`, integrity };
  const file = join(folder, name);
  const before = (version === '1.0.0' ? {} : JSON.parse(readFileSync(file, 'utf8')).versions) as object;
  const versions = {
    ...before,
    [version]: { ...described, dist, hasInstallScript: Object.keys(scripts).length > 0 },
  };
  writeFileSync(file, JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
}

/** Makes npm use only this registry for the rest of the test. */
export async function useRegistry(folder: string): Promise<void> {
  const server = spawn(process.execPath, ['-e', SERVER, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(server.stdout, 'data')) as [Buffer];
  const settings = {
    npm_config_registry: `http://127.0.0.1:${String(port).trim()}/`,
    npm_config_userconfig: '/dev/null',
    npm_config_globalconfig: join(folder, 'no-npmrc'),
    npm_config_cache: join(folder, 'cache'),
    // Otherwise npm waits before it fetches a damaged file again.
    npm_config_fetch_retries: '0',
  };
  const before = Object.keys(settings).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, settings);
  onTestFinished(() => {
    server.kill();
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
}
