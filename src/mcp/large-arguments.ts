/**
 * Arguments of tool calls that are too large to be parsed on the thread that serves all clients. They stay text; on their
 * way through the SDK, which wants objects, something small stands for them.
 *
 * @module
 */
import { randomUUID } from 'node:crypto';
import type { JsonText, Runtime } from '../index.ts';

const STAND_IN = 'skillcell/large';
/** Texts that no call has come for; more than a batch has. */
const MAX_KEPT = 128;
const BRACE = 0x7b;

/** What a tool is called with: a value, or the text of a large one. */
export type ToolArguments = Record<string, unknown> | JsonText;

export interface ReadOptions {
  /** Where arguments are in a message. */
  path: readonly string[];
  signal?: AbortSignal | undefined;
}

export class LargeArguments {
  readonly #texts = new Map<string, JsonText>();

  /**
   * Reads a large message, or a list of them, in a worker thread; what comes back is small. Throws `usage` when it is not
   * JSON, or large for another reason.
   */
  async read(runtime: Runtime, bytes: Uint8Array, { path, signal }: ReadOptions): Promise<unknown> {
    const { message, parts } = await runtime.readMessage(bytes, { path, owner: 'mcp', signal });
    for (const [at, one] of [message].flat().entries()) {
      const text = parts[at];
      if (text) put(one, path, this.#standIn(text));
    }
    return message;
  }

  /** The text that these arguments stand for, once; else the arguments themselves. */
  take(given: Record<string, unknown>): ToolArguments {
    const id = given[STAND_IN];
    const text = typeof id === 'string' ? this.#texts.get(id) : undefined;
    if (typeof id === 'string') this.#texts.delete(id);
    return text ?? given;
  }

  /** The SDK refuses a list, as it does every text that is not an object. */
  #standIn(text: JsonText): unknown {
    if (text.bytes[0] !== BRACE) return [];
    const id = randomUUID();
    this.#texts.set(id, text);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MAX_KEPT) break;
      this.#texts.delete(oldest);
    }
    return { [STAND_IN]: id };
  }
}

/** Something was taken out there, so it is there. */
function put(message: unknown, path: readonly string[], value: unknown): void {
  const [key = '', ...deeper] = path;
  const holder = message as Record<string, unknown>;
  if (deeper.length > 0) put(holder[key], deeper, value);
  else holder[key] = value;
}
