/**
 * The lines of git's protocol: four hexadecimal digits of length, then bytes. Three lengths are marks.
 *
 * @module
 */
import { Buffer } from 'node:buffer';

export const FLUSH = '0000';
export const DELIMITER = '0001';

export type PktLine = Buffer | 'flush' | 'delimiter' | 'end';

/** Far more than servers send: lines may be empty, and each takes memory. */
const MAX_LINES = 200_000;
const MARKS: Readonly<Record<number, PktLine>> = { 0: 'flush', 1: 'delimiter', 2: 'end' };

export function pktLine(text: string): string {
  const length = Buffer.byteLength(text) + 4;
  return `${length.toString(16).padStart(4, '0')}${text}`;
}

/** Undefined if the bytes are not whole lines, or are too many. */
export function readPktLines(bytes: Buffer): PktLine[] | undefined {
  const lines: PktLine[] = [];
  for (let at = 0; at < bytes.length;) {
    const digits = bytes.toString('latin1', at, at + 4);
    if (!/^[\da-f]{4}$/i.test(digits) || lines.length >= MAX_LINES) return undefined;
    const length = Number.parseInt(digits, 16);
    const mark = MARKS[length];
    if (mark === undefined && (length < 4 || at + length > bytes.length)) return undefined;
    lines.push(mark ?? bytes.subarray(at + 4, at + length));
    at += mark === undefined ? length : 4;
  }
  return lines;
}
