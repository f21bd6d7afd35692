/**
 * The server on standard input and output, for a client that started us. Output carries the protocol alone.
 *
 * @module
 */
import { Writable, type Readable } from 'node:stream';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { toSkillError } from '../index.ts';
import { LargeLines } from './large-lines.ts';
import { MAX_MESSAGE_BYTES } from './limits.ts';
import type { SkillServer } from './skill-server.ts';

export interface StdioOptions {
  /** Ends the connection, as the client can by closing our input. */
  signal: AbortSignal;
  onNote: (text: string) => void;
  /** Absent: those of the process. */
  streams?: { input: Readable; output: Writable };
}

const INVALID_REQUEST = -32_600;

/** Returns when the client is gone and every call has ended. */
export async function serveOverStdio(
  skills: SkillServer,
  { signal, onNote, streams }: StdioOptions,
): Promise<void> {
  const { wire, giveBack } = streams ? { wire: streams.output, giveBack: () => undefined } : takeStdout();
  const input = streams?.input ?? process.stdin;
  const lines = new LargeLines({
    read: (bytes) => skills.readLarge(bytes, { signal }),
    onRefused: (error) => {
      const { message } = toSkillError(error);
      onNote(message);
      // Its id stands in what nobody has read on this thread.
      wire.write(
        `${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: INVALID_REQUEST, message } })}\n`,
      );
    },
  });
  const transport = new ClosingTransport(lines, wire, { maxBufferSize: MAX_MESSAGE_BYTES });
  const disconnect = connectLines(input, lines);
  const handle = serveStdio(() => skills.open(), { transport, onerror: (error) => onNote(error.message) });
  const end = (): void => {
    handle.close().catch((error: unknown) => onNote(String(error)));
  };
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  await transport.closed;
  disconnect();
  await skills.close();
  giveBack();
}

/** The function lets go of the input, which would keep the process alive. */
function connectLines(input: Readable, lines: LargeLines): () => void {
  const fail = (error: Error): void => {
    lines.destroy(error);
  };
  const end = (): void => {
    lines.end();
  };
  input.on('error', fail).on('close', end).pipe(lines);
  return () => {
    input.unpipe(lines).off('close', end).pause();
    lines.destroy();
  };
}

/** Every way to end a connection goes through `close`. */
class ClosingTransport extends StdioServerTransport {
  readonly #closed = Promise.withResolvers<void>();
  readonly closed: Promise<void> = this.#closed.promise;

  override async close(): Promise<void> {
    await super.close();
    this.#closed.resolve();
  }
}

/** Whatever else prints in this process goes to stderr: one stray line would break the connection. */
function takeStdout(): { wire: Writable; giveBack: () => void } {
  const { stdout, stderr } = process;
  const print = stdout.write.bind(stdout);
  const wire = new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _, done) => {
      print(chunk, done);
    },
  });
  // For good: the last words to a client that is gone fail after everything else.
  stdout.on('error', (error) => {
    wire.destroy(error);
  });
  stdout.write = stderr.write.bind(stderr);
  const giveBack = (): void => {
    stdout.write = print;
  };
  return { wire, giveBack };
}
