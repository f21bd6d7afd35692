/**
 * Strings in the three encodings of the canonical ABI.
 *
 * @module
 */

import { GuestEnd } from '../contract.ts';
import type { AbiContext } from './context.ts';

/** Address of a string, and its length in the guest's units. */
export interface StoredString {
  address: number;
  length: number;
}

/** In `latin1+utf16`, set in the length of a string stored as UTF-16. */
const UTF16_TAG = 0x8000_0000;

const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const utf16Decoder = new TextDecoder('utf-16le', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

export function loadString(context: AbiContext, address: number, length: number): string {
  if (context.encoding === 'utf8') {
    return decode(utf8Decoder, chargedBytes(context, context.check(address, length, 1), length));
  }
  if (context.encoding === 'utf16') return loadUtf16(context, address, length);
  if (length >= UTF16_TAG) return loadUtf16(context, address, length - UTF16_TAG);
  const latin1 = chargedBytes(context, context.check(address, length, 2), length);
  return Buffer.from(latin1.buffer, latin1.byteOffset, length).toString('latin1');
}

export function storeString(context: AbiContext, text: string): StoredString {
  if (context.encoding === 'utf8') return storeUtf8(context, text);
  const wellFormed = text.toWellFormed();
  if (context.encoding === 'utf16') return storeUtf16(context, wellFormed);
  if (!isLatin1(wellFormed)) {
    const { address, length } = storeUtf16(context, wellFormed);
    return { address, length: length + UTF16_TAG };
  }
  const address = context.allocate(wellFormed.length, 2);
  Buffer.from(context.bytes.buffer, address, wellFormed.length).write(wellFormed, 'latin1');
  return { address, length: wellFormed.length };
}

function loadUtf16(context: AbiContext, address: number, units: number): string {
  return decode(utf16Decoder, chargedBytes(context, context.check(address, units * 2, 2), units * 2));
}

function chargedBytes(context: AbiContext, start: number, size: number): Uint8Array<ArrayBuffer> {
  context.charge(size);
  return context.bytes.subarray(start, start + size);
}

function decode(decoder: TextDecoder, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new GuestEnd('trap', `A string is not valid ${decoder.encoding}`);
  }
}

function storeUtf8(context: AbiContext, text: string): StoredString {
  const length = Buffer.byteLength(text);
  const address = context.allocate(length, 1);
  encoder.encodeInto(text, context.bytes.subarray(address, address + length));
  return { address, length };
}

function storeUtf16(context: AbiContext, text: string): StoredString {
  const size = text.length * 2;
  const address = context.allocate(size, 2);
  Buffer.from(context.bytes.buffer, address, size).write(text, 'utf16le');
  return { address, length: text.length };
}

function isLatin1(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) > 0xff) return false;
  }
  return true;
}
