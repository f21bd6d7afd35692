/**
 * Extended headers of tar, which change what the next header says. Only a long path is accepted: everything else that
 * changes how an entry is read is refused, because programs disagree about it.
 *
 * @module
 */

/** Records by key, or the reason why the header is refused. */
export function parsePax(bytes: Buffer): Map<string, Buffer> | string {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const digits = space === -1 ? '' : bytes.toString('latin1', at, space);
    const end = /^[1-9]\d{0,5}$/.test(digits) ? at + Number(digits) : 0;
    const equals = bytes.indexOf(0x3d, space);
    const isWhole = space < equals && equals < end && end <= bytes.length;
    if (!isWhole || bytes[end - 1] !== 0x0a) return 'it has a malformed extended header';
    const key = bytes.toString('latin1', space + 1, equals);
    if (records.has(key)) return `it has an extended header that says "${key}" twice`;
    records.set(key, bytes.subarray(equals + 1, end - 1));
    at = end;
  }
  return records;
}

/** Why an extended header cannot be accepted; undefined if it can. */
export function paxProblem(records: ReadonlyMap<string, Buffer>, scope: 'next' | 'all'): string | undefined {
  for (const key of records.keys()) {
    if (key.startsWith('GNU.sparse.') || key === 'SCHILY.realsize') return 'it has sparse files';
    if (key === 'hdrcharset' || key === 'charset') return 'it has names in another character set';
    if (scope === 'all' && ['path', 'linkpath', 'size'].includes(key))
      return `it has an extended header that changes "${key}" of every entry`;
  }
  return undefined;
}
