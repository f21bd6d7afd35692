/**
 * The server on standard input and output, for a client that started us. Output carries the protocol alone.
 *
 * @module
 */
import { Writable } from 'node:stream';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { MAX_MESSAGE_BYTES } from './limits.ts';
import type { SkillServer } from './skill-server.ts';

export interface StdioOptions {
  /** Ends the connection, as the client can by closing our input. */
  signal: AbortSignal;
  onNote: (text: string) => void;
}

/** Returns when the client is gone and every call has ended. */
export async function serveOverStdio(skills: SkillServer, { signal, onNote }: StdioOptions): Promise<void> {
  const { wire, giveBack } = takeStdout();
  const transport = new ClosingTransport(process.stdin, wire, { maxBufferSize: MAX_MESSAGE_BYTES });
  const handle = serveStdio(() => skills.open(), { transport, onerror: (error) => onNote(error.message) });
  const end = (): void => {
    handle.close().catch((error: unknown) => onNote(String(error)));
  };
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  await transport.closed;
  await skills.close();
  giveBack();
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
