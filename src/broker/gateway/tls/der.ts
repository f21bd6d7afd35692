/**
 * Writes the few DER forms that a certificate needs. There is no reader; OpenSSL reads the certificates of others.
 *
 * @module
 */

export function sequence(...parts: Uint8Array[]): Buffer {
  return element(0x30, ...parts);
}

export function set(...parts: Uint8Array[]): Buffer {
  return element(0x31, ...parts);
}

export function octets(content: Uint8Array): Buffer {
  return element(0x04, content);
}

/** All bits of the last byte are used unless `unusedBits` says otherwise. */
export function bits(content: Uint8Array, unusedBits = 0): Buffer {
  return element(0x03, Buffer.of(unusedBits), content);
}

export function utf8(text: string): Buffer {
  return element(0x0c, Buffer.from(text, 'utf8'));
}

export function truth(): Buffer {
  return element(0x01, Buffer.of(0xff));
}

/** A non-negative number from its bytes. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Buffer.of(0) : bytes.subarray(first);
  // A leading 1 bit would make it negative.
  return (digits[0] ?? 0) >= 0x80 ? element(0x02, Buffer.of(0), digits) : element(0x02, digits);
}

/** UTCTime, which X.509 requires for dates before 2050. */
export function time(at: Date): Buffer {
  const digits = at.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return element(0x17, Buffer.from(digits.slice(2), 'ascii'));
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** A context-specific element; `constructed` if it contains other elements. */
export function tagged(
  number: number,
  content: Uint8Array,
  { constructed = true }: { constructed?: boolean } = {},
): Buffer {
  return element((constructed ? 0xa0 : 0x80) + number, content);
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}

function element(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), length(content.length), content]);
}

function length(count: number): Buffer {
  if (count < 0x80) return Buffer.of(count);
  const digits: number[] = [];
  for (let rest = count; rest > 0; rest >>>= 8) digits.unshift(rest & 0xff);
  return Buffer.of(0x80 + digits.length, ...digits);
}
