/**
 * Writes tar files whose bytes depend only on their entries: no times, no owner names, no extra padding.
 *
 * @module
 */
import { BLOCK, encodeHeader, needsExtendedNumbers, splitName, type TarHeader } from './tar-header.ts';

/** The end of every archive. */
export const TAR_END: Buffer = Buffer.alloc(2 * BLOCK);

/** The header blocks of an entry, before its content. */
export function tarHead(header: TarHeader): Buffer {
  const records = paxRecords(header);
  const head = encodeHeader(header);
  if (records === '') return head;
  const content = Buffer.from(records, 'latin1');
  const pax = { type: 'x', name: 'pax', linkName: '', mode: 0o644, uid: 0, gid: 0, size: content.length };
  return Buffer.concat([encodeHeader(pax), content, tarPadding(content.length), head]);
}

/** Fills the last block of the content. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** Records for values that do not fit into the header. */
function paxRecords(header: TarHeader): string {
  const { name, linkName, uid, gid, size } = header;
  const records = [
    ...(splitName(name) === undefined ? [paxRecord('path', name)] : []),
    ...(linkName.length > 100 ? [paxRecord('linkpath', linkName)] : []),
  ];
  if (!needsExtendedNumbers(header)) return records.join('');
  return [
    ...records,
    paxRecord('size', String(size)),
    paxRecord('uid', String(uid)),
    paxRecord('gid', String(gid)),
  ].join('');
}

function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length;
  while (length !== rest.length + String(length).length) length = rest.length + String(length).length;
  return `${length}${rest}`;
}
