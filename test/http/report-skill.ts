/**
 * A skill that says what it finds where it runs, and the server that it tells its secret.
 *
 * @module
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Its workspace, its variables, and what the server received as its secret. */
export const REPORT = `
  import json, os, urllib.request

  def execute(params):
      with open("/workspace/note.txt") as file:
          note = file.read()
      with open("/workspace/written.txt", "w") as file:
          file.write("by the skill")
      request = urllib.request.Request(params["url"], headers={"Authorization": "Bearer " + os.environ["API_KEY"]})
      with urllib.request.urlopen(request) as answer:
          received = json.load(answer)
      return {"note": note, "received": received, "region": os.environ.get("REGION"), "given": os.environ["API_KEY"]}
`;

/** It asks for the secret, for its workspace, and for the server. */
export function reportManifest(port: number): Record<string, unknown> {
  return {
    execution: ['subprocess'],
    env_vars: {
      API_KEY: { required: true, secret: true, hosts: ['127.0.0.1'] },
      REGION: { required: false },
    },
    capabilities: {
      filesystem: [{ path: '${workspace}', access: 'read-write' }],
      network: [{ host: '127.0.0.1', port, scheme: 'http' }],
    },
  };
}

export interface Echo {
  server: Server;
  port: number;
  url: string;
  /** What it received; a skill never sees the value of its secret. */
  received: string[];
}

export async function startEcho(): Promise<Echo> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(request.headers.authorization ?? '');
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ seen: received.length }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `http://127.0.0.1:${port}/`, received };
}
