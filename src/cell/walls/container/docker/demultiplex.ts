/**
 * Splits docker's combined stream into stdout and stderr. Each piece has a header of 8 bytes.
 *
 * @module
 */
import type { Duplex, Writable } from 'node:stream';

const HEAD_BYTES = 8;
const STDERR = 2;

export function demultiplex(
  source: Duplex,
  { output, errors }: { output: Writable; errors: Writable },
): void {
  let pending: Buffer = Buffer.alloc(0);
  let left = 0;
  let target = output;
  source.on('data', (chunk: Buffer) => {
    pending = pending.length > 0 ? Buffer.concat([pending, chunk]) : chunk;
    while (pending.length > 0) {
      if (left === 0) {
        if (pending.length < HEAD_BYTES) return;
        target = pending[0] === STDERR ? errors : output;
        left = pending.readUInt32BE(4);
        pending = pending.subarray(HEAD_BYTES);
      }
      const piece = pending.subarray(0, left);
      if (piece.length > 0) target.write(Buffer.from(piece));
      left -= piece.length;
      pending = pending.subarray(piece.length);
    }
  });
  const end = (): void => {
    output.end();
    errors.end();
  };
  source
    .once('end', end)
    .once('close', end)
    .on('error', () => undefined);
}
