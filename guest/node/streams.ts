/**
 * Synchronous standard streams. Node's own would queue output that the host has not read yet: a flood would fill the
 * memory, and output still queued at the time of the reply would be lost.
 *
 * @module
 */
import { writeSync } from 'node:fs';
import { Writable } from 'node:stream';

const write = writeSync;

export function useSynchronousStreams(): void {
  for (const [name, fd] of Object.entries({ stdout: 1, stderr: 2 })) {
    const stream = Object.assign(new Writable({ write: writeTo(fd) }), { fd });
    Object.defineProperty(process, name, { value: stream, configurable: true, enumerable: true });
  }
}

type Write = (chunk: Buffer, encoding: string, done: (error?: Error | null) => void) => void;

function writeTo(fd: number): Write {
  return (chunk, _, done) => {
    try {
      for (let sent = 0; sent < chunk.length;) sent += write(fd, chunk, sent);
      done();
    } catch (error) {
      done(error as Error);
    }
  };
}
