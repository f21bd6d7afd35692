/**
 * The server on standard input and output, for a client that started this process. Only protocol messages go to stdout.
 *
 * @module
 */
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { SkillError, toSkillError } from '../inside.ts';
import { Answers } from './answers.ts';
import { LargeLines } from './large-lines.ts';
import { MAX_MESSAGE_BYTES } from './limits.ts';
import type { SkillServer } from './skill-server.ts';

/** Options of `serveOverStdio`. */
export interface StdioOptions {
  /** Closes the connection, as does the client by closing our input. */
  signal: AbortSignal;
  onNote: (text: string) => void;
  /** Default: the streams of the process. */
  streams?: { input: Readable; output: Writable };
  /** How long the client may leave answers unread, in milliseconds. */
  unreadMs?: number;
}

const INVALID_REQUEST = -32_600;
/** How long a client may take to read its last answers after a signal, in milliseconds. */
const LAST_ANSWERS_MS = 2000;

/**
 * Serves skills as MCP tools over standard input and output. Returns when the client has disconnected and every call has
 * ended. Throws `resource_exceeded` if the connection was closed because the client did not read.
 */
export async function serveOverStdio(
  skills: SkillServer,
  { signal, onNote, streams, unreadMs }: StdioOptions,
): Promise<void> {
  const { print, onBroken, restore } = streams ? printTo(streams.output) : takeStdout();
  const input = streams?.input ?? process.stdin;
  const answers = new Answers({ print, unreadMs });
  onBroken((error) => answers.destroy(error));
  const lines = new LargeLines({
    ready: () => answers.ready(),
    read: (bytes) => skills.readLarge(bytes, { signal }),
    onRefused: (error) => {
      const { message } = toSkillError(error);
      onNote(message);
      answers.write(refusalOf(message));
    },
  });
  const transport = new ClosingTransport(lines, answers);
  const disconnect = connectLines(input, lines);
  const handle = serveStdio(() => skills.open(), { transport, onerror: (error) => onNote(error.message) });
  transport.countReceived();
  let lastAnswers: NodeJS.Timeout | undefined;
  const end = (): void => {
    // With an error, because a write that waits for the reader notices nothing else.
    lastAnswers = setTimeout(
      () => answers.destroy(new Error('The last answers were not read')),
      LAST_ANSWERS_MS,
    );
    handle.close().catch((error: unknown) => onNote(String(error)));
  };
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  await transport.closed;
  disconnect();
  await skills.close();
  await answers.flush();
  clearTimeout(lastAnswers);
  signal.removeEventListener('abort', end);
  answers.destroy();
  restore();
  if (answers.errored instanceof SkillError) throw answers.errored;
}

/** Without an id: it is unknown, or belongs to another request. */
function refusalOf(message: string): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: INVALID_REQUEST, message } })}\n`;
}

/** Returns a function that detaches from the input, which would otherwise keep the process alive. */
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
  readonly #answers: Answers;

  constructor(lines: LargeLines, answers: Answers) {
    super(lines, answers, { maxBufferSize: MAX_MESSAGE_BYTES });
    this.#answers = answers;
  }

  /** Call it after the SDK has set its listener. */
  countReceived(): void {
    const { onmessage } = this;
    // oxlint-disable-next-line prefer-add-event-listener -- a transport of the SDK is not an event target
    this.onmessage = (message) => {
      if (this.#answers.trackIncoming(message)) onmessage?.(message);
      else this.#answers.write(refusalOf('A request with this id is still running; use another id'));
    };
  }

  override send(message: JSONRPCMessage): Promise<void> {
    const sent = super.send(message);
    this.#answers.trackOutgoing(message);
    return sent;
  }

  override async close(): Promise<void> {
    await super.close();
    this.#closed.resolve();
  }
}

interface Output {
  print: (bytes: Buffer, done: (error?: Error | null) => void) => void;
  onBroken: (listener: (error: Error) => void) => void;
  restore: () => void;
}

function printTo(output: Writable): Output {
  return {
    print: (bytes, done) => {
      output.write(bytes, done);
    },
    onBroken: (listener) => {
      output.on('error', listener);
    },
    restore: () => undefined,
  };
}

/** Redirects all other output of this process to stderr, because a stray line would break the connection. */
function takeStdout(): Output {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return {
    print: (bytes, done) => {
      write(bytes, done);
    },
    // Never removed: the last write to a disconnected client fails after everything else.
    onBroken: (listener) => {
      stdout.on('error', listener);
    },
    restore: () => {
      stdout.write = write;
      // Output that no one reads must not delay the exit.
      for (const stream of [stdout, stderr]) if (stream.writableLength > 0) stream.destroy();
    },
  };
}
