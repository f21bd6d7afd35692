/**
 * A server on loopback that answers every request, for the scenes of one file of tests.
 *
 * @module
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import { Scenes } from './scene.ts';

/** Closes both at the end of the file. */
export async function openScenes(): Promise<{ scenes: Scenes; port: number }> {
  const scenes = new Scenes();
  const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  afterAll(async () => {
    server.close().closeAllConnections();
    await scenes[Symbol.asyncDispose]();
  });
  return { scenes, port: (server.address() as AddressInfo).port };
}
