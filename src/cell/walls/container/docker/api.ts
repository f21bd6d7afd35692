/**
 * The HTTP API of docker on its unix socket. Its command line would take as long as the container itself.
 *
 * @module
 */
import { createReadStream } from 'node:fs';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { nodeHttp } from '../../../../node-network.ts';

/** An error response of docker. */
export class DockerRefusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface DockerInfo {
  ServerVersion: string;
  CgroupVersion: string;
  MemoryLimit: boolean;
  PidsLimit: boolean;
  SecurityOptions?: string[] | null | undefined;
}

export interface DockerState {
  /** 0 if the container is not running. */
  Pid: number;
  ExitCode: number;
  OOMKilled: boolean;
}

const info: z.ZodType<DockerInfo> = z.object({
  ServerVersion: z.string(),
  CgroupVersion: z.string().default('1'),
  MemoryLimit: z.boolean().default(false),
  PidsLimit: z.boolean().default(false),
  SecurityOptions: z.array(z.string()).nullish(),
});
const inspected: z.ZodType<{ State: DockerState }> = z.object({
  State: z.object({ Pid: z.number(), ExitCode: z.number(), OOMKilled: z.boolean() }),
});

export class DockerApi {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  async info(): Promise<DockerInfo> {
    return info.parse(await this.#json('GET', '/info'));
  }

  async hasImage(name: string): Promise<boolean> {
    try {
      await this.#json('GET', `/images/${name}/json`);
      return true;
    } catch (error) {
      if (error instanceof DockerRefusal && error.status === 404) return false;
      throw error;
    }
  }

  /** Loads an archive in the format of `docker save`. */
  async load(archive: string): Promise<void> {
    await this.#send('POST', '/images/load?quiet=1', createReadStream(archive));
  }

  /** Creates an image from a tar of its root file system. */
  async importRoot(name: string, tar: Readable): Promise<void> {
    await this.#send('POST', `/images/create?fromSrc=-&repo=${encodeURIComponent(name)}`, tar);
  }

  async create(name: string, container: object): Promise<void> {
    await this.#json('POST', `/containers/create?name=${name}`, container);
  }

  async start(name: string): Promise<void> {
    await this.#json('POST', `/containers/${name}/start`);
  }

  /** Resolves with the exit code of the container. Call it before `start`. */
  async wait(name: string): Promise<number> {
    const answer = await this.#json('POST', `/containers/${name}/wait?condition=next-exit`);
    return z.object({ StatusCode: z.number() }).parse(answer).StatusCode;
  }

  async inspect(name: string): Promise<DockerState> {
    return inspected.parse(await this.#json('GET', `/containers/${name}/json`)).State;
  }

  async remove(name: string): Promise<void> {
    await this.#json('DELETE', `/containers/${name}?force=1&v=1`);
  }

  /** Names of all containers with this label. */
  async list(label: string): Promise<string[]> {
    const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
    const found = await this.#json('GET', `/containers/json?all=1&filters=${filters}`);
    const names = z.array(z.object({ Names: z.array(z.string()) })).parse(found);
    return names.flatMap(({ Names }) => Names.map((name) => name.replace(/^\//, '')));
  }

  /** The standard streams of a container, multiplexed on one connection. */
  attach(name: string, { stdin }: { stdin: boolean }): Promise<Duplex> {
    const path = `/containers/${name}/attach?stream=1&stdout=1&stderr=1${stdin ? '&stdin=1' : ''}`;
    return new Promise((resolve, reject) => {
      const outgoing = this.#request({
        method: 'POST',
        path,
        headers: { Connection: 'Upgrade', Upgrade: 'tcp' },
      });
      outgoing.once('upgrade', (_, socket: Duplex) => resolve(socket));
      outgoing.once('response', (answer: IncomingMessage) => {
        text(answer).then((reply) => reject(refusal(answer, reply)), reject);
      });
      outgoing.once('error', reject);
      outgoing.end();
    });
  }

  async #json(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await this.#send(method, path, body);
    return answer === '' ? undefined : JSON.parse(answer);
  }

  #send(method: string, path: string, body?: object | Readable): Promise<string> {
    return new Promise((resolve, reject) => {
      const isStream = body !== undefined && 'pipe' in body;
      const type = isStream ? 'application/x-tar' : 'application/json';
      const outgoing = this.#request({
        method,
        path,
        headers: body === undefined ? {} : { 'Content-Type': type },
      });
      outgoing.once('error', reject);
      outgoing.once('response', (answer: IncomingMessage) => {
        const isFine = (answer.statusCode ?? 500) < 300;
        text(answer).then((reply) => (isFine ? resolve(reply) : reject(refusal(answer, reply))), reject);
      });
      if (isStream) body.once('error', reject).pipe(outgoing);
      else outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  #request(options: RequestOptions): ClientRequest {
    return nodeHttp().request({ socketPath: this.#socketPath, agent: false, ...options });
  }
}

function refusal(answer: IncomingMessage, reply: string): DockerRefusal {
  const status = answer.statusCode ?? 500;
  try {
    return new DockerRefusal(status, String((JSON.parse(reply) as { message: unknown }).message));
  } catch {
    return new DockerRefusal(status, reply.slice(0, 500));
  }
}
