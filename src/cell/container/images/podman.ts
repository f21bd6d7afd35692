/**
 * Podman as a holder and builder of images, by its command.
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

/** No times of its own, so that the same files give the same image; nothing is fetched unless a network was declared. */
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

/** crun does not work with cgroups of both versions at once; runc does with all. */
function runtimeArguments(): string[] {
  return spawnSync('runc', ['--version'], { stdio: 'ignore' }).status === 0 ? ['--runtime', 'runc'] : [];
}

async function act(args: string[], what: string): Promise<void> {
  const { code, words } = await podman(args);
  if (code !== 0) throw engineFailed('podman', what, words);
}

async function podman(args: string[]): Promise<{ code: number | null; words: string }> {
  const child = spawn('podman', args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: TIMEOUT_MS });
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', (code) => resolve(code));
  });
  const words = await text(child.stderr).catch(() => '');
  return { code: await ended, words };
}
