/**
 * `wasi:io`: error, poll, streams.
 *
 * @module
 */
import type { HostFunction, HostInterfaces } from '../contract.ts';
import { asBytes, asCount, asList, asResource, trap } from './check.ts';
import { CHUNK, InputStream, IoError, OutputStream, type StreamResult } from './streams.ts';
import { after, Pollable, waitForAny } from './wait.ts';

/** More than any program waits for; each costs a listener. */
const MAX_POLL = 4096;

type MaybeLater<T> = T | Promise<T>;

export function ioInterfaces(): HostInterfaces {
  return {
    'wasi:io/error': {
      '[method]error.to-debug-string': { call: (self) => asResource(self, IoError).cause.message },
    },
    'wasi:io/poll': {
      '[method]pollable.ready': { call: (self) => asResource(self, Pollable).target.poll() },
      '[method]pollable.block': {
        suspends: true,
        call: (self) => waitForAny([asResource(self, Pollable).target]),
      },
      poll: { suspends: true, call: poll },
    },
    'wasi:io/streams': { ...inputStream(), ...outputStream() },
  };
}

function poll(list: unknown): MaybeLater<number[]> {
  const handles = asList(list);
  if (handles.length === 0 || handles.length > MAX_POLL) trap('A poll needs between 1 and 4096 pollables');
  const targets = handles.map((handle) => asResource(handle, Pollable).target);
  return after(waitForAny(targets), () => {
    const ready: number[] = [];
    for (const [index, target] of targets.entries()) if (target.ready()) ready.push(index);
    return ready;
  });
}

function inputStream(): Record<string, HostFunction> {
  return {
    '[method]input-stream.read': { call: (self, length) => input(self).read(asCount(length)) },
    '[method]input-stream.blocking-read': {
      suspends: true,
      call: (self, length) => input(self).blockingRead(asCount(length)),
    },
    '[method]input-stream.skip': { call: (self, length) => counted(input(self).read(asCount(length))) },
    '[method]input-stream.blocking-skip': {
      suspends: true,
      call: (self, length) => countedLater(input(self).blockingRead(asCount(length))),
    },
    '[method]input-stream.subscribe': { call: (self) => new Pollable(input(self)) },
  };
}

function outputStream(): Record<string, HostFunction> {
  return {
    '[method]output-stream.check-write': { call: (self) => asBig(output(self).checkWrite()) },
    '[method]output-stream.write': { call: (self, bytes) => output(self).write(asBytes(bytes)) },
    '[method]output-stream.blocking-write-and-flush': {
      suspends: true,
      call: (self, bytes) => output(self).blockingWrite(asBytes(bytes)),
    },
    '[method]output-stream.flush': { call: (self) => output(self).flush() },
    '[method]output-stream.blocking-flush': { suspends: true, call: (self) => output(self).blockingFlush() },
    '[method]output-stream.subscribe': { call: (self) => new Pollable(output(self)) },
    '[method]output-stream.write-zeroes': { call: (self, length) => output(self).write(zeroes(length)) },
    '[method]output-stream.blocking-write-zeroes-and-flush': {
      suspends: true,
      call: (self, length) => output(self).blockingWrite(zeroes(length)),
    },
    '[method]output-stream.splice': {
      call: (self, source, length) => splice(output(self), input(source), asCount(length)),
    },
    '[method]output-stream.blocking-splice': { suspends: true, call: blockingSplice },
  };
}

function blockingSplice(self: unknown, source: unknown, length: unknown): MaybeLater<StreamResult<bigint>> {
  const [to, from, count] = [output(self), input(source), asCount(length)];
  const writable = after(waitForAny([to]), () => after(waitForAny([from]), () => splice(to, from, count)));
  return writable as MaybeLater<StreamResult<bigint>>;
}

function splice(to: OutputStream, from: InputStream, length: number): StreamResult<bigint> {
  const permit = to.checkWrite();
  if ('err' in permit) return permit;
  const bytes = from.read(Math.min(length, permit.ok));
  if ('err' in bytes) return bytes;
  const written = to.write(bytes.ok);
  return 'err' in written ? written : { ok: BigInt(bytes.ok.length) };
}

function input(value: unknown): InputStream {
  return asResource(value, InputStream);
}

function output(value: unknown): OutputStream {
  return asResource(value, OutputStream);
}

function zeroes(length: unknown): Uint8Array {
  const count = asCount(length);
  if (count > CHUNK) trap('A write of zeroes is larger than the stream has allowed');
  return new Uint8Array(count);
}

function asBig(result: StreamResult<number>): StreamResult<bigint> {
  return 'err' in result ? result : { ok: BigInt(result.ok) };
}

function counted(result: StreamResult<Uint8Array>): StreamResult<bigint> {
  return 'err' in result ? result : { ok: BigInt(result.ok.length) };
}

function countedLater(result: MaybeLater<StreamResult<Uint8Array>>): MaybeLater<StreamResult<bigint>> {
  return result instanceof Promise ? result.then(counted) : counted(result);
}
