/**
 * The 512-byte header of each tar entry: ustar with GNU and pax extensions. Texts are byte strings with one character per
 * byte, so that names in any encoding survive.
 *
 * @module
 */

export const BLOCK = 512;

export interface TarHeader {
  /** One character as in tar: `0` a file, `5` a folder, `2` a symbolic link, … */
  type: string;
  name: string;
  linkName: string;
  mode: number;
  uid: number;
  gid: number;
  size: number;
}

interface Field {
  at: number;
  length: number;
}

const FIELDS = {
  name: { at: 0, length: 100 },
  mode: { at: 100, length: 8 },
  uid: { at: 108, length: 8 },
  gid: { at: 116, length: 8 },
  size: { at: 124, length: 12 },
  mtime: { at: 136, length: 12 },
  checksum: { at: 148, length: 8 },
  type: { at: 156, length: 1 },
  linkName: { at: 157, length: 100 },
  magic: { at: 257, length: 8 },
  prefix: { at: 345, length: 155 },
} as const satisfies Record<string, Field>;

/** Undefined if the block is not a header: its checksum does not match, or a number is invalid. */
export function decodeHeader(block: Buffer): TarHeader | undefined {
  const sum = numberAt(block, FIELDS.checksum);
  if (sum === undefined || sum !== checksumOf(block)) return undefined;
  const [mode, uid, gid, size] = [FIELDS.mode, FIELDS.uid, FIELDS.gid, FIELDS.size].map((field) =>
    numberAt(block, field),
  );
  if (mode === undefined || uid === undefined || gid === undefined || size === undefined) return undefined;
  // Only POSIX archives have a prefix; GNU stores times there.
  const prefix = textAt(block, FIELDS.magic) === 'ustar' ? textAt(block, FIELDS.prefix) : '';
  const name = textAt(block, FIELDS.name);
  return {
    type: block.toString('latin1', FIELDS.type.at, FIELDS.type.at + 1).replace('\0', '0'),
    name: prefix === '' ? name : `${prefix}/${name}`,
    linkName: textAt(block, FIELDS.linkName),
    mode: mode & 0o7777,
    uid,
    gid,
    size,
  };
}

/** A header without times and owner names, so that the same entry always gives the same bytes. The name must fit. */
export function encodeHeader(header: TarHeader): Buffer {
  const block = Buffer.alloc(BLOCK);
  const { name, prefix } = splitName(header.name) ?? { name: header.name.slice(0, 100), prefix: '' };
  putText(block, FIELDS.name, name);
  putNumber(block, FIELDS.mode, header.mode);
  putNumber(block, FIELDS.uid, header.uid);
  putNumber(block, FIELDS.gid, header.gid);
  putNumber(block, FIELDS.size, header.size);
  putNumber(block, FIELDS.mtime, 0);
  putText(block, FIELDS.type, header.type);
  putText(block, FIELDS.linkName, header.linkName.slice(0, 100));
  putText(block, FIELDS.magic, 'ustar\x0000');
  putText(block, FIELDS.prefix, prefix);
  putText(block, FIELDS.checksum, `${checksumOf(block).toString(8).padStart(6, '0')}\0 `);
  return block;
}

/** Splits a name into the two header fields; undefined if it does not fit. */
export function splitName(name: string): { name: string; prefix: string } | undefined {
  if (name.length <= FIELDS.name.length) return { name, prefix: '' };
  const slash = name.lastIndexOf('/', FIELDS.prefix.length);
  const rest = name.slice(slash + 1);
  if (slash <= 0 || rest === '' || rest.length > FIELDS.name.length) return undefined;
  return { name: rest, prefix: name.slice(0, slash) };
}

/** Largest number in a field of eleven octal digits. */
const MAX_OCTAL_SIZE = 8 ** 11 - 1;
const MAX_OCTAL_ID = 8 ** 7 - 1;

/** True if owner and size need an extended header. */
export function needsExtendedNumbers({ uid, gid, size }: TarHeader): boolean {
  return uid > MAX_OCTAL_ID || gid > MAX_OCTAL_ID || size > MAX_OCTAL_SIZE;
}

function textAt(block: Buffer, { at, length }: Field): string {
  const text = block.toString('latin1', at, at + length);
  const end = text.indexOf('\0');
  return end === -1 ? text : text.slice(0, end);
}

function numberAt(block: Buffer, field: Field): number | undefined {
  const first = block[field.at] ?? 0;
  if ((first & 0x80) !== 0) return binaryNumber(block, field);
  const text = block.toString('latin1', field.at, field.at + field.length).replaceAll(/^[ \0]+|[ \0]+$/g, '');
  if (text === '') return 0;
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : undefined;
}

/** GNU writes large numbers as bytes, marked by the highest bit. Negative and unsafe numbers are invalid. */
function binaryNumber(block: Buffer, { at, length }: Field): number | undefined {
  if (block[at] !== 0x80) return undefined;
  const bytes = block.subarray(at + 1, at + length);
  const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  return Number.isSafeInteger(value) ? value : undefined;
}

function checksumOf(block: Buffer): number {
  let sum = 0;
  const { at, length } = FIELDS.checksum;
  block.forEach((byte, index) => (sum += index >= at && index < at + length ? 0x20 : byte));
  return sum;
}

function putText(block: Buffer, { at, length }: Field, text: string): void {
  block.write(text, at, length, 'latin1');
}

/** A number that does not fit is zero here and is written to an extended header. */
function putNumber(block: Buffer, field: Field, value: number): void {
  const digits = value.toString(8).padStart(field.length - 1, '0');
  putText(block, field, `${digits.length < field.length ? digits : '0'.repeat(field.length - 1)}\0`);
}
