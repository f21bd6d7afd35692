/**
 * Messages of a cluster: a small JSON head, then bytes that are passed on unparsed, such as parameters.
 *
 * @module
 */
import { SkillError } from '../errors.ts';

export interface Frame {
  head: unknown;
  body: Uint8Array;
}

const LENGTH_BYTES = 4;
/** Parsed on the event loop. Outcomes contain logs, which are one long text. */
const MAX_HEAD = 4 * 1024 * 1024;

export function writeFrame(head: object, body: Uint8Array = new Uint8Array()): Uint8Array {
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text, body]);
}

/** Throws `usage` if the bytes are not a frame, or its head is larger than `maxHead`. */
export function readFrame(bytes: Uint8Array, maxHead: number = MAX_HEAD): Frame {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = all.length < LENGTH_BYTES ? Number.POSITIVE_INFINITY : all.readUInt32BE();
  if (length > maxHead || length > all.length - LENGTH_BYTES) throw malformed('its length does not fit');
  const end = LENGTH_BYTES + length;
  try {
    return { head: JSON.parse(all.toString('utf8', LENGTH_BYTES, end)), body: all.subarray(end) };
  } catch {
    throw malformed('its head is not JSON');
  }
}

export function malformed(reason: string): SkillError {
  return new SkillError('usage', `A message of the cluster is malformed: ${reason}`, {
    fix: 'Use the same version of Skillcell in the whole cluster.',
  });
}
