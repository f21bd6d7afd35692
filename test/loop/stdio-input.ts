/**
 * Large messages of an MCP client over standard input and output.
 *
 * @module
 */
import { PassThrough } from 'node:stream';
import { expect } from 'vitest';
import type { Runtime } from '../../src/index.ts';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { serveOverStdio } from '../../src/mcp/stdio.ts';
import { INPUTS } from './inputs.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'hand', version: '1' } },
};
const callOf = (id: number, given: object): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'test__good', arguments: given },
});

export async function stdioExample(runtime: Runtime): Promise<void> {
  const { cap, here } = INPUTS['message of an MCP client over stdio'];
  await using skills = new SkillServer({ runtime });
  const [input, output] = [new PassThrough(), new PassThrough()];
  let said = '';
  output.setEncoding('utf8').on('data', (text: string) => (said += text));
  const notes: string[] = [];
  const { signal } = new AbortController();
  const served = serveOverStdio(skills, {
    signal,
    onNote: (text) => notes.push(text),
    streams: { input, output },
  });
  const send = (message: object): boolean => input.write(`${JSON.stringify(message)}\n`);
  const answered = (words: string): Promise<void> => expect.poll(() => said).toContain(words);
  send(INITIALIZE);
  send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const values = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`k${n}`, n]));
  send(callOf(2, values));
  await answered('"k29999":29999');
  // Large outside the arguments: refused, and the next message is answered.
  send({ jsonrpc: '2.0', id: 3, method: 'ping', params: { x: 'x'.repeat(here) } });
  send(callOf(4, { after: 'refused' }));
  await answered('outside params.arguments');
  await answered('{"after":"refused"}');
  input.write('x'.repeat(cap + 1));
  await served;
  expect(notes.join('\n')).toContain(`larger than ${cap} bytes`);
}
