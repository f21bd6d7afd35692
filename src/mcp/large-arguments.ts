/**
 * Tool arguments that are too large to parse on the thread that serves all clients. They stay text; a small placeholder
 * object represents them in the SDK, which requires objects.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import type { JsonText, Runtime } from '../inside.ts';

const PLACEHOLDER_KEY = 'skillcell/large';
/** Maximum number of texts waiting for their call; larger than a batch. */
const MAX_WAITING = 128;
/** Together; several times the largest one, so that calls that run at the same time find theirs. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const BRACE = 0x7b;

/** Arguments of a tool call: a value, or the text of a large one. */
export type ToolArguments = Record<string, unknown> | JsonText;

export interface ReadOptions {
  /** Path of the arguments in a message. */
  path: readonly string[];
  /** Whether this message will come for its arguments; the text of others is dropped. By default tool calls only. */
  keeps?: (message: unknown) => boolean;
  signal?: AbortSignal | undefined;
}

export class LargeArguments {
  readonly #texts = new Map<string, JsonText>();

  /**
   * Reads a large message, or a list of them, in a worker thread, and returns it with placeholders. Throws `usage` if it is
   * not JSON, or if something other than the arguments is large.
   */
  async read(runtime: Runtime, bytes: Uint8Array, options: ReadOptions): Promise<unknown> {
    const { path, keeps = isToolCall, signal } = options;
    const { message, parts } = await runtime.readMessage(bytes, { path, owner: 'mcp', signal });
    for (const [at, one] of [message].flat().entries()) {
      const text = parts[at];
      if (text) put(one, path, keeps(one) ? this.#placeholder(text) : {});
    }
    return message;
  }

  /** Returns the text behind a placeholder, once; other arguments are returned unchanged. */
  take(given: Record<string, unknown>): ToolArguments {
    const id = given[PLACEHOLDER_KEY];
    const text = typeof id === 'string' ? this.#texts.get(id) : undefined;
    if (typeof id === 'string') this.#texts.delete(id);
    return text ?? given;
  }

  /** For arguments that are not an object, a list: the SDK rejects it. */
  #placeholder(text: JsonText): unknown {
    if (text.bytes[0] !== BRACE) return [];
    const id = randomUUID();
    this.#texts.set(id, text);
    let bytes = 0;
    // The newest first: the oldest are those that nobody came for.
    for (const [at, [key, waiting]] of [...this.#texts].toReversed().entries()) {
      bytes += waiting.bytes.length;
      if (at >= MAX_WAITING || bytes > MAX_WAITING_BYTES) this.#texts.delete(key);
    }
    return { [PLACEHOLDER_KEY]: id };
  }

  /** Size of all texts that wait for their call. */
  get waitingBytes(): number {
    return [...this.#texts.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
  }
}

/** Only these come for their arguments. */
function isToolCall(message: unknown): boolean {
  return (message as { method?: unknown } | null)?.method === 'tools/call';
}

/** The path exists, because a part was taken out there. */
function put(message: unknown, path: readonly string[], value: unknown): void {
  const [key = '', ...deeper] = path;
  const holder = message as Record<string, unknown>;
  if (deeper.length > 0) put(holder[key], deeper, value);
  else holder[key] = value;
}
