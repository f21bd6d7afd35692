/**
 * Stores and builds images with the podman command.
 *
 * @module
 */
import { spawn, spawnSync } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { BuildRequest, ImageEngine } from './engine.ts';
import { engineFailed } from './problems.ts';

const TIMEOUT_MS = 15 * 60 * 1000;

export async function podmanEngine(): Promise<ImageEngine | undefined> {
  const { code } = await podman(['--version']);
  if (code !== 0) return undefined;
  return {
    name: 'podman',
    has: async (reference) => (await podman(['image', 'exists', reference])).code === 0,
    pull: (reference) => act(['pull', '--quiet', reference], `fetch the image ${reference}`),
    save: (reference, file) =>
      act(['save', '--format', 'docker-archive', '--output', file, reference], `save the image ${reference}`),
    load: (archive) => act(['load', '--quiet', '--input', archive], 'load an image'),
    tag: (source, name) => act(['tag', source, name], `name an image ${name}`),
    build: (request) => act(buildArguments(request), 'build the image'),
    remove: (reference) => act(['rmi', '--force', reference], `remove the image ${reference}`),
  };
}

/** Fixed timestamps, so that the same files give the same image. Nothing is fetched unless a network is declared. */
function buildArguments({ context, dockerfile, tag, network }: BuildRequest): string[] {
  return [
    ...runtimeArguments(),
    'build',
    '--timestamp=0',
    '--layers=false',
    ...(network ? [] : ['--network=none', '--pull=never']),
    '--file',
    `${context}/${dockerfile}`,
    '--tag',
    tag,
    context,
  ];
}

/** crun fails if both cgroup versions are mounted; runc always works. */
function runtimeArguments(): string[] {
  return spawnSync('runc', ['--version'], { stdio: 'ignore' }).status === 0 ? ['--runtime', 'runc'] : [];
}

async function act(args: string[], what: string): Promise<void> {
  const { code, output } = await podman(args);
  if (code !== 0) throw engineFailed('podman', what, output);
}

async function podman(args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn('podman', args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: TIMEOUT_MS });
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', (code) => resolve(code));
  });
  const output = await text(child.stderr).catch(() => '');
  return { code: await ended, output };
}
