/**
 * A runtime whose skills may reach a server of the test on loopback.
 *
 * @module
 */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parsePolicy, type RuntimeOptions } from '../../src/index.ts';
import { openTestRuntime, type TestRuntime } from '../cell/test-runtime.ts';

export interface WithServer {
  opened: TestRuntime;
  port: number;
  close: () => Promise<void>;
}

export async function openWithServer(
  answer: RequestListener,
  options: RuntimeOptions = {},
): Promise<WithServer> {
  const policy = parsePolicy('network: { allow_private: ["127.0.0.1"] }', { file: 'policy.yaml' });
  const opened = openTestRuntime({ audit: false, policy, ...options });
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { opened, port, close: () => (server.close(), opened.close()) };
}
