/**
 * A client over standard input and output that sends requests and does not read.
 *
 * @module
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { createRuntime } from '../../src/index.ts';
import { Answers, MAX_UNANSWERED, MAX_UNREAD_AHEAD, MAX_UNREAD_BYTES } from '../../src/mcp/answers.ts';
import { SkillServer } from '../../src/mcp/skill-server.ts';
import { serveOverStdio } from '../../src/mcp/stdio.ts';
import { cellsOf } from '../cli/command.ts';
import { slowCall, until, type Project } from './project.ts';

const OPENING = [
  {
    jsonrpc: '2.0',
    id: 'opening',
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'deaf', version: '1' } },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
];
const linesOf = (messages: readonly object[]): string =>
  messages.map((message) => `${JSON.stringify(message)}\n`).join('');
const PINGS = linesOf(
  Array.from({ length: 1000 }, (_, n) => ({ jsonrpc: '2.0', id: `ping-${n}`, method: 'ping' })),
);
/** JSON that is not a valid message; each causes a note. */
const NO_MESSAGES = linesOf(Array.from({ length: 100 }, () => ({ padding: 'x'.repeat(500) })));
/** Several times the allowed backlog and the kernel's pipe buffer. */
const FLOOD_BYTES = 8 * MAX_UNREAD_AHEAD;

const callOf = (given: object): object => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'test__slow', arguments: given },
});

export function describeUnread(project: Project): void {
  let child: ChildProcessWithoutNullStreams | undefined;
  afterEach(() => child?.kill('SIGKILL'));

  function start(): ChildProcessWithoutNullStreams {
    child = spawn(process.execPath, project.args(), { env: project.env });
    child.stdin.on('error', () => undefined);
    return child;
  }

  /** Sends as much as the process accepts, up to `FLOOD_BYTES`. */
  function flood({ stdin }: ChildProcessWithoutNullStreams, text: string): { taken: () => number } {
    let taken = 0;
    const sendOne = (): void => {
      if (taken < FLOOD_BYTES)
        stdin.write(text, (error) => {
          if (error) return;
          taken += Buffer.byteLength(text);
          sendOne();
        });
    };
    sendOne();
    return { taken: () => taken };
  }

  /** Resolves when everything was accepted or the process has stopped reading. */
  async function untilStalled(taken: () => number): Promise<void> {
    for (let same = 0, last = -1; same < 40;) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      same = taken() > 0 && taken() === last ? same + 1 : 0;
      last = taken();
    }
  }

  describe('an MCP client that does not read its responses', () => {
    test('is not read from either, and a signal ends the process with its cell and one receipt', async () => {
      const before = await project.countReceipts();
      const { given, isRunning } = slowCall();
      const process = start();
      process.stderr.resume();
      process.stdin.write(linesOf([...OPENING, callOf(given)]));
      await until(isRunning);
      const { taken } = flood(process, PINGS);
      await untilStalled(taken);
      expect(taken()).toBeLessThan(FLOOD_BYTES / 2);
      const exited = once(process, 'exit');
      process.kill('SIGTERM');
      expect(await exited).toEqual([0, null]);
      expect(isRunning()).toBe(false);
      await until(() => cellsOf(project.folder).length === 0);
      expect(await project.countReceipts()).toBe(before + 1);
    });

    test('cannot keep the process alive by leaving its notifications unread', async () => {
      const process = start();
      process.stdout.resume();
      process.stdin.write(linesOf(OPENING));
      const { taken } = flood(process, NO_MESSAGES);
      await until(() => taken() >= FLOOD_BYTES);
      const exited = once(process, 'exit');
      process.stdin.end();
      expect(await exited).toEqual([0, null]);
    });

    test('is disconnected after a while, and its call ends with one receipt', async () => {
      const before = await project.countReceipts();
      const { given, isRunning } = slowCall();
      const input = new PassThrough();
      const ended = expect(serveDeaf(input)).rejects.toMatchObject({
        code: 'resource_exceeded',
        message: 'The client has not read its answers for 1 s',
      });
      input.write(linesOf([...OPENING, callOf(given)]));
      await until(isRunning);
      input.write(PINGS);
      await ended;
      expect(isRunning()).toBe(false);
      expect(await project.countReceipts()).toBe(before + 1);
    });
  });

  /** In this process, with a shorter timeout. */
  async function serveDeaf(input: PassThrough): Promise<void> {
    const home = join(project.folder, 'home');
    await using runtime = createRuntime({ home, cwd: project.folder, pool: { size: 0 } });
    await using skills = new SkillServer({ runtime });
    await serveOverStdio(skills, {
      signal: new AbortController().signal,
      onNote: () => undefined,
      streams: { input, output: new PassThrough({ highWaterMark: 1024 }) },
      unreadMs: 1000,
    });
  }

  describe('requests without an answer', () => {
    const ping = (id: number): { jsonrpc: '2.0'; id: number; method: string } => ({
      jsonrpc: '2.0',
      id,
      method: 'ping',
    });

    test('are limited in number, and a second one with the same id is refused', async () => {
      const answers = new Answers({ print: (_, done) => done() });
      for (let id = 0; id < MAX_UNANSWERED; id++) expect(answers.trackIncoming(ping(id))).toBe(true);
      expect(answers.trackIncoming(ping(7))).toBe(false);
      let isReady = false;
      const ready = answers.ready().then(() => (isReady = true));
      await new Promise((resolve) => setImmediate(resolve));
      expect(isReady).toBe(false);
      answers.trackOutgoing({ jsonrpc: '2.0', id: 7, result: {} });
      await ready;
      expect(answers.trackIncoming(ping(7))).toBe(true);
    });

    test('keep their id: another request with it gets an error without an id', async () => {
      const { given, isRunning } = slowCall();
      const { stdin, stdout, stderr } = start();
      let output = '';
      stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
      stderr.resume();
      stdin.write(linesOf([...OPENING, callOf(given)]));
      await until(isRunning);
      stdin.write(linesOf([callOf(given)]));
      await until(() => output.includes('still running'));
      const answers = output
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { id: unknown });
      expect(answers).toContainEqual(expect.objectContaining({ id: null }));
      expect(answers.filter(({ id }) => id === 1)).toEqual([]);
    });
  });

  describe('unread responses', () => {
    test('close the connection immediately if the running calls produce too many', async () => {
      const answers = new Answers({ print: () => undefined });
      const failed = once(answers, 'error');
      const text = 'x'.repeat(1024 * 1024);
      for (let sent = 0; sent <= MAX_UNREAD_BYTES && !answers.destroyed; sent += text.length) {
        answers.write(text);
        answers.trackOutgoing({ jsonrpc: '2.0', id: sent, result: {} });
      }
      expect(await failed).toMatchObject([{ code: 'resource_exceeded', detail: { limit: 'output' } }]);
    });
  });
}
