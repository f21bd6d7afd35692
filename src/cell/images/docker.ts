/**
 * Stores and builds images with docker, through the API on its socket. The docker command would be twice as slow.
 *
 * @module
 */
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { nodeHttp } from '../../node-network.ts';
import type { BuildRequest, ImageEngine } from './engine.ts';
import { folderTree } from './folder-tree.ts';
import { writeLayer } from './layers.ts';
import { engineFailed } from './problems.ts';

const DEFAULT_SOCKET = '/var/run/docker.sock';
const TIMEOUT_MS = 15 * 60 * 1000;
const PROBE_MS = 2000;

export async function dockerEngine(): Promise<ImageEngine | undefined> {
  const socket = socketPath();
  if (socket === undefined || !existsSync(socket)) return undefined;
  const api = new DockerApi(socket);
  if (!(await api.answers())) return undefined;
  return {
    name: 'docker',
    has: async (reference) => (await api.send('GET', `/images/${part(reference)}/json`)).status === 200,
    pull: (reference) =>
      api.act(`/images/create?fromImage=${part(reference)}`, `fetch the image ${reference}`),
    save: (reference, file) => api.download(`/images/${part(reference)}/get`, file),
    load: (archive) => api.act('/images/load?quiet=1', 'load an image', createReadStream(archive)),
    tag: (source, name) => {
      const colon = name.lastIndexOf(':');
      const query = `repo=${part(name.slice(0, colon))}&tag=${part(name.slice(colon + 1))}`;
      return api.act(`/images/${part(source)}/tag?${query}`, `name an image ${name}`);
    },
    build: (build) => buildImage(api, build),
    remove: async (reference) => {
      await api.send('DELETE', `/images/${part(reference)}?force=1`);
    },
  };
}

async function buildImage(
  api: DockerApi,
  { context, dockerfile, tag, network }: BuildRequest,
): Promise<void> {
  const mode = network ? 'default&pull=1' : 'none';
  const query = `t=${part(tag)}&dockerfile=${part(dockerfile)}&networkmode=${mode}&nocache=1&rm=1&forcerm=1`;
  const body = Readable.from(writeLayer(folderTree(context)));
  await api.act(`/build?${query}`, 'build the image', body);
}

function socketPath(): string | undefined {
  const chosen = process.env['DOCKER_HOST'];
  if (chosen === undefined || chosen === '') return DEFAULT_SOCKET;
  // Other schemes mean other machines, whose images are not available here.
  return chosen.startsWith('unix://') ? chosen.slice('unix://'.length) : undefined;
}

function part(value: string): string {
  return encodeURIComponent(value);
}

class DockerApi {
  readonly #socket: string;

  constructor(socket: string) {
    this.#socket = socket;
  }

  async answers(): Promise<boolean> {
    try {
      const { status } = await this.send('GET', '/_ping', { timeout: PROBE_MS });
      return status === 200;
    } catch {
      return false;
    }
  }

  /** Sends a POST, whose response may contain an error line even with a success status. */
  async act(path: string, what: string, body?: Readable): Promise<void> {
    const { status, output } = await this.send('POST', path, body ? { body } : {});
    const problem = /"error":\s*"((?:[^"\\]|\\.)*)"/.exec(output)?.[1];
    if (status >= 400 || problem !== undefined) throw engineFailed('docker', what, problem ?? output);
  }

  async download(path: string, file: string): Promise<void> {
    const answer = await this.#open('GET', path, {});
    if (answer.statusCode !== 200) throw engineFailed('docker', 'save the image', await text(answer));
    await pipeline(answer, createWriteStream(file));
  }

  async send(
    method: string,
    path: string,
    options: SendOptions = {},
  ): Promise<{ status: number; output: string }> {
    const answer = await this.#open(method, path, options);
    return { status: answer.statusCode ?? 0, output: await text(answer) };
  }

  #open(method: string, path: string, options: SendOptions): Promise<IncomingMessage> {
    const { body, timeout = TIMEOUT_MS } = options;
    return new Promise((resolve, reject) => {
      const headers = body ? { 'content-type': 'application/x-tar' } : {};
      const sent = nodeHttp().request({ socketPath: this.#socket, method, path, headers, timeout }, resolve);
      sent.once('error', reject);
      sent.once('timeout', () => sent.destroy(new Error('docker does not answer')));
      if (body) pipeline(body, sent).catch(reject);
      else sent.end();
    });
  }
}

interface SendOptions {
  body?: Readable;
  timeout?: number;
}
