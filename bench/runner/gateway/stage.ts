/**
 * A server on loopback in a separate process, and skills that may reach it.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { packageRoot } from '../../../src/inside.ts';

const SERVER = `
const { createServer } = require('node:http');
const server = createServer((_, response) => response.end('fine'));
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.stdout.write(String(server.address().port)));
process.stdin.on('end', () => process.exit()).resume();
`;

export interface GatewayStage extends AsyncDisposable {
  url: string;
  /** Makes the requested number of requests. */
  python: string;
  /** Makes one request in each call. */
  component: string;
}

export async function openGatewayStage(folder: string): Promise<GatewayStage> {
  const server = spawn(process.execPath, ['-e', SERVER], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [port] = (await once(server.stdout, 'data')) as [Buffer];
  const place = { folder, port: Number(port.toString()) };
  return {
    url: `http://127.0.0.1:${place.port}/`,
    python: placeSkill('bench/skills/requests', place),
    component: placeSkill('skills/web/fetch_status', place),
    [Symbol.asyncDispose]: async () => {
      server.stdin.end();
      await once(server, 'exit');
    },
  };
}

/** A copy whose only rule is for the bench's server, whose port is known only now. */
function placeSkill(path: string, { folder, port }: { folder: string; port: number }): string {
  const dir = join(folder, path.replaceAll('/', '-'));
  cpSync(join(packageRoot(), path), dir, { recursive: true });
  rmSync(join(dir, 'skill.lock'), { force: true });
  const file = join(dir, 'manifest.yaml');
  const manifest = parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  const network = [{ host: '127.0.0.1', port, scheme: 'http', methods: ['GET'], paths: ['/'] }];
  writeFileSync(file, JSON.stringify({ ...manifest, capabilities: { network } }));
  return dir;
}
