/**
 * A real server on loopback for each test, and clients with short deadlines.
 *
 * @module
 */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { HttpClient, type HttpClientOptions } from '../../../src/distribution/http/client.ts';

export interface TestServer {
  readonly origin: string;
  readonly port: number;
  /** The heads of all requests that arrived. */
  readonly seen: readonly IncomingMessage[];
}

/** Serves on loopback until the test ends. */
export async function serve(listener: RequestListener, host = '127.0.0.1'): Promise<TestServer> {
  const seen: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    seen.push(request);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  return { origin: `http://${host.includes(':') ? `[${host}]` : host}:${port}`, port, seen };
}

export function clientFor(options: HttpClientOptions = {}): HttpClient {
  const client = new HttpClient({ env: {}, ...options });
  onTestFinished(() => client.close());
  return client;
}
