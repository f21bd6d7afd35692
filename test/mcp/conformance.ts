/**
 * Runs the conformance suite of the protocol against a server. The suite uses its own tool names; a proxy in between
 * translates them to ours and back, and passes everything else through unchanged.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../cli/command.ts';
import type { Project } from './project.ts';

const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
export const EXPECTED_FAILURES: string = fileURLToPath(new URL('expected-failures.yaml', import.meta.url));

/** Tool names of the suite, and ours. */
const NAMES: readonly (readonly [theirs: string, ours: string])[] = [
  ['test_simple_text', 'test__simple_text'],
  ['test_error_handling', 'test__error_handling'],
  ['test_tool_with_progress', 'test__tool_with_progress'],
  ['json_schema_2020_12_tool', 'json__schema_2020_12_tool'],
];

export interface Conformance {
  code: number;
  /** Scenarios with at least one check and no failed ones. */
  passed: string[];
  report: string;
}

export async function runConformance(project: Project, server: URL): Promise<Conformance> {
  const renamer = createServer((incoming, outgoing) => void passOn(server, incoming, outgoing));
  await once(renamer.listen(0, '127.0.0.1'), 'listening');
  const { port } = renamer.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}${server.pathname}`;
  const args = [SUITE, 'server', '--url', url, '--suite', 'all', '--expected-failures', EXPECTED_FAILURES];
  const child = spawn(process.execPath, args, { cwd: project.folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  renamer.closeAllConnections();
  renamer.close();
  const summary = stdout.matchAll(/^✓ (\S+): [1-9]\d* passed, 0 failed/gm);
  return { code, passed: [...summary].map(([, name = '']) => name), report: stdout + stderr };
}

async function passOn(server: URL, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body = rename(await text(incoming), 'ours');
  const { 'content-length': _, 'transfer-encoding': __, ...headers } = incoming.headers;
  const sent = request(server, { method: incoming.method, headers });
  outgoing.on('close', () => sent.destroy());
  sent.on('error', () => outgoing.destroy());
  sent.on('response', (answer) => {
    const { 'content-length': ___, ...kept } = answer.headers;
    outgoing.writeHead(answer.statusCode ?? 502, kept);
    outgoing.flushHeaders();
    createInterface({ input: answer })
      .on('error', () => outgoing.destroy())
      .on('line', (line) => outgoing.write(`${rename(line, 'theirs')}\n`))
      .on('close', () => outgoing.end());
  });
  sent.end(body);
}

function rename(message: string, whose: 'theirs' | 'ours'): string {
  return NAMES.reduce(
    (renamed, [theirs, ours]) =>
      whose === 'ours'
        ? renamed.replaceAll(`"${theirs}"`, `"${ours}"`)
        : renamed.replaceAll(`"${ours}"`, `"${theirs}"`),
    message,
  );
}
