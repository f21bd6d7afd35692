/**
 * The real process on standard input and output.
 *
 * @module
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, test } from 'vitest';
import { cellsOf } from '../cli/command.ts';
import { describeContract } from './contract.ts';
import { clientOf, ERAS, slowCall, until, type Era, type Project } from './project.ts';

export function describeStdio(project: Project): void {
  describe.each(ERAS)('MCP over stdio', (era: Era) => {
    describeContract(era, project, async (listChanged) => {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: project.args(),
        env: project.env,
        stderr: 'ignore',
      });
      const client = clientOf(era, listChanged);
      await client.connect(transport);
      return { client, close: () => client.close() };
    });
  });

  interface Started {
    child: ChildProcessWithoutNullStreams;
    send: (...lines: string[]) => void;
    /** Complete lines written so far. */
    lines: () => string[];
  }

  function start(): Started {
    const child = spawn(process.execPath, project.args(), { env: project.env });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.resume();
    child.stdin.on('error', () => undefined);
    return {
      child,
      send: (...lines) => void child.stdin.write(lines.map((line) => `${line}\n`).join('')),
      lines: () => output.split('\n').slice(0, -1),
    };
  }

  const INITIALIZE = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'hand', version: '1' } },
  });
  const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
  const callOf = (id: number, name: string, given = '{}'): string =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${given}}}`;

  describe('an MCP server over stdio', () => {
    test('survives invalid messages and prints only messages', async () => {
      const { child, send, lines } = start();
      send(
        '',
        'garbage',
        '{"jsonrpc":"2.0"',
        '[]',
        'null',
        '{"jsonrpc":"1.0","id":9,"method":"x"}',
        '\u0000\uffff',
      );
      send(
        INITIALIZE,
        INITIALIZED,
        '{"jsonrpc":"2.0","id":2,"method":"no/such"}',
        callOf(3, 'test__echo', '[]'),
      );
      send(
        `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{}}`,
        callOf(5, 'test__echo', `{"text":"${'x'.repeat(9 * 1024 * 1024)}"}`),
        callOf(6, 'test__echo', '{"text":"yes"}'),
      );
      await until(() => lines().some((line) => line.includes('"id":6')));
      child.stdin.end();
      expect(await once(child, 'exit')).toEqual([0, null]);
      const answers = lines().map(
        (line) => JSON.parse(line) as { jsonrpc: string; id: number; error?: object },
      );
      expect(answers.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true);
      const byId = new Map(answers.map((answer) => [answer.id, answer]));
      expect([...byId.keys()].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(byId.get(2)).toMatchObject({ error: { code: -32601 } });
      expect(byId.get(3)).toMatchObject({ error: { code: -32602 } });
      expect(byId.get(4)).toMatchObject({ error: { code: -32602 } });
      expect(byId.get(5)).toMatchObject({
        result: { isError: true, content: [{ text: expect.stringContaining('invalid_params: ') }] },
      });
      expect(byId.get(6)).toMatchObject({ result: { structuredContent: { said: 'yes' } } });
    });

    test.each([
      ['closes its end', (child: ChildProcessWithoutNullStreams) => child.stdin.end()],
      [
        'stops reading and writing',
        ({ stdin, stdout }: ChildProcessWithoutNullStreams) => {
          stdin.destroy();
          stdout.destroy();
        },
      ],
      ['sends a signal', (child: ChildProcessWithoutNullStreams) => child.kill('SIGTERM')],
    ])('ends with its cell and a receipt if a client %s during a call', async (_, vanish) => {
      const before = await project.countReceipts();
      const { given, isRunning } = slowCall();
      const { child, send } = start();
      send(INITIALIZE, INITIALIZED, callOf(2, 'test__slow', JSON.stringify(given)));
      await until(isRunning);
      vanish(child);
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(isRunning()).toBe(false);
      await until(() => cellsOf(project.folder).length === 0);
      expect(await project.countReceipts()).toBe(before + 1);
    });

    test('ends if a message never ends, instead of buffering it', async () => {
      const { child, lines } = start();
      child.stdin.write(`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(11 * 1024 * 1024)}`);
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(lines()).toEqual([]);
    });
  });
}
