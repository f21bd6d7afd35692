/**
 * TextEncoder and TextDecoder, for UTF-8 only.
 *
 * @module
 */
import { host } from './host.ts';

const FATAL = 1;
const IGNORE_BOM = 2;
const UTF8_NAMES: ReadonlySet<string> = new Set(['utf-8', 'utf8', 'unicode-1-1-utf-8']);

export class TextEncoder {
  get encoding(): string {
    return 'utf-8';
  }

  encode(text: unknown = ''): Uint8Array {
    return host.encode(String(text).toWellFormed());
  }

  encodeInto(text: string, into: Uint8Array): { read: number; written: number } {
    let [read, written] = [0, 0];
    for (const letter of text) {
      const bytes = this.encode(letter);
      if (written + bytes.length > into.length) break;
      into.set(bytes, written);
      read += letter.length;
      written += bytes.length;
    }
    return { read, written };
  }
}

export interface DecoderOptions {
  fatal?: boolean;
  ignoreBOM?: boolean;
}

export class TextDecoder {
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;

  constructor(label: unknown = 'utf-8', { fatal = false, ignoreBOM = false }: DecoderOptions = {}) {
    if (!UTF8_NAMES.has(String(label).trim().toLowerCase()))
      throw new RangeError(`The encoding ${JSON.stringify(String(label))} is not supported; utf-8 is`);
    this.fatal = fatal;
    this.ignoreBOM = ignoreBOM;
  }

  get encoding(): string {
    return 'utf-8';
  }

  decode(input?: ArrayBuffer | ArrayBufferView, { stream = false }: { stream?: boolean } = {}): string {
    if (stream) throw new TypeError('This decoder does not support streaming');
    const flags = (this.fatal ? FATAL : 0) | (this.ignoreBOM ? IGNORE_BOM : 0);
    const text = host.decode(bytesOf(input ?? new Uint8Array()), flags);
    if (text === undefined) throw new TypeError('The bytes are not valid UTF-8');
    return text;
  }
}

/** Returns a view, not a copy. */
export function bytesOf(input: ArrayBuffer | ArrayBufferView): Uint8Array {
  if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
  return new Uint8Array(input);
}
