/**
 * A registry on loopback that serves one honest skill, and whatever a lie changes about it.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { TAR_END, tarHead, tarPadding } from '../../../src/cell/images/tar-writer.ts';
import { packSkill } from '../../../src/distribution/oci/layout.ts';
import { digestFiles, sha256 } from '../../../src/load/digest.ts';
import { formatLock, makeLock } from '../../../src/load/lock.ts';
import { serve, type TestServer } from '../http/support.ts';

export const NAME = 'skills/demo';
export const TAG = '1.0.0';
const FILES = {
  'SKILL.md': '---\nname: demo\ndescription: Says hello\n---\nSay hello.\n',
  'run.sh': '#!/bin/sh\necho hello\n',
};
const CONTENT = 'application/vnd.agentskills.skill.content.v1.tar+gzip';
const LOCK = 'application/vnd.skillcell.lock.v1+json';

export interface Json {
  [key: string]: unknown;
}

/** What a registry answers at a path below its repository. */
export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: Buffer | string;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The honest answers, which a lie changes. */
export class Scene {
  readonly answers: Map<string, Answer> = new Map();
  readonly handlers: Map<string, Handler> = new Map();
  readonly blobs: Map<string, Buffer> = new Map();
  /** Another server, which must never see credentials. */
  readonly elsewhere: TestServer;
  manifest: Json = {};

  constructor(elsewhere: TestServer) {
    this.elsewhere = elsewhere;
  }

  get layers(): Json[] {
    return this.manifest['layers'] as Json[];
  }

  get content(): Json {
    return this.layers.find(({ mediaType }) => mediaType === CONTENT) ?? {};
  }

  get lock(): Json {
    return this.layers.find(({ mediaType }) => mediaType === LOCK) ?? {};
  }

  get digest(): string {
    return digestOf(Buffer.from(JSON.stringify(this.manifest)));
  }

  /** Replaces the bytes of a layer, and everything in the manifest that follows from them. */
  replace(layer: Json, bytes: Buffer): void {
    layer['digest'] = digestOf(bytes);
    layer['size'] = bytes.length;
    this.blobs.set(digestOf(bytes), bytes);
  }

  /** Replaces the archive with these raw entries. */
  archive(...parts: Buffer[]): void {
    this.replace(this.content, gzipSync(Buffer.concat([...parts, TAR_END])));
  }

  /** A document about a skill, under its digest. Returns its entry for a list. */
  referrer(changes: Json = {}): Json {
    const body = Buffer.from('{}');
    this.blobs.set(digestOf(body), body);
    const manifest = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      artifactType: 'application/vnd.cyclonedx+json',
      config: { mediaType: 'application/vnd.oci.empty.v1+json', digest: digestOf(body), size: 2 },
      layers: [{ mediaType: 'application/vnd.cyclonedx+json', digest: digestOf(body), size: 2 }],
      subject: { mediaType: 'application/vnd.oci.image.manifest.v1+json', digest: this.digest, size: 1 },
      ...changes,
    };
    const bytes = Buffer.from(JSON.stringify(manifest));
    this.put(`manifests/${digestOf(bytes)}`, manifest.mediaType, bytes);
    return { mediaType: manifest.mediaType, digest: digestOf(bytes), size: bytes.length };
  }

  list(manifests: Json[], headers: Record<string, string> = {}): void {
    const mediaType = 'application/vnd.oci.image.index.v1+json';
    const body = JSON.stringify({ schemaVersion: 2, mediaType, manifests });
    this.answers.set(`referrers/${this.digest}`, {
      headers: { 'content-type': mediaType, ...headers },
      body,
    });
  }

  put(path: string, type: string, body: Buffer | string): void {
    this.answers.set(path, { headers: { 'content-type': type }, body });
  }

  /** Serves the manifest as it is now, unless a lie already answers there. */
  finish(): void {
    const body = Buffer.from(JSON.stringify(this.manifest));
    for (const reference of [TAG, digestOf(body)])
      if (!this.answers.has(`manifests/${reference}`))
        this.put(`manifests/${reference}`, 'application/vnd.oci.image.manifest.v1+json', body);
    for (const [digest, bytes] of this.blobs)
      if (!this.answers.has(`blobs/${digest}`))
        this.put(`blobs/${digest}`, 'application/octet-stream', bytes);
    if (!this.answers.has('tags/list'))
      this.put('tags/list', 'application/json', JSON.stringify({ tags: [TAG] }));
  }
}

export function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

export async function honestScene(elsewhere: TestServer): Promise<Scene> {
  const contents = new Map(Object.entries(FILES).map(([path, text]) => [path, Buffer.from(text)]));
  const files = Object.fromEntries([...contents].map(([path, bytes]) => [path, sha256(bytes)]));
  const digest = digestFiles(files);
  const inspection = { modules: [], interfaces: [], env: [], hosts: [] };
  const lock = Buffer.from(formatLock(makeLock({ files, digest, capabilities: [], inspection } as never)));
  const { manifest, blobs } = await packSkill({
    name: 'agent/demo',
    version: TAG,
    description: 'Says hello',
    contents,
    digest,
    lock,
  });
  const scene = new Scene(elsewhere);
  scene.manifest = JSON.parse(manifest.bytes.toString()) as Json;
  for (const { descriptor, bytes } of blobs) scene.blobs.set(descriptor.digest, bytes);
  return scene;
}

/** Serves a scene until the test ends. */
export function serveScene(scene: Scene): Promise<TestServer> {
  const root = `/v2/${NAME}/`;
  return serve((request, response) => {
    const path = (request.url ?? '').replace(root, '').replace(/\?.*$/, '');
    const handler = scene.handlers.get(path) ?? scene.handlers.get('*');
    if (handler) return handler(request, response);
    const { status = 200, headers = {}, body = '' } = scene.answers.get(path) ?? { status: 404 };
    response.writeHead(status, headers).end(body);
  });
}

interface EntryOptions {
  type?: string;
  body?: string;
  linkName?: string;
}

/** The raw entry of a tar archive, whatever it may be. */
export function entry(name: string, options: EntryOptions = {}): Buffer {
  const { type = '0', body = '', linkName = '' } = options;
  const bytes = Buffer.from(body);
  const raw = Buffer.from(name).toString('latin1');
  const head = tarHead({ type, name: raw, linkName, mode: 0o644, uid: 0, gid: 0, size: bytes.length });
  return Buffer.concat([head, bytes, tarPadding(bytes.length)]);
}

/** An extended header with these records for the next entry. */
export function pax(records: Record<string, string>): Buffer {
  const body = Object.entries(records)
    .map(([key, value]) => {
      const rest = ` ${key}=${value}\n`;
      let length = Buffer.byteLength(rest);
      while (length !== Buffer.byteLength(rest) + String(length).length)
        length = Buffer.byteLength(rest) + String(length).length;
      return `${length}${rest}`;
    })
    .join('');
  return entry('pax', { type: 'x', body });
}
