/**
 * The part of `wasi:io` 0.2 that an HTTP client needs: waiting, and reading and writing streams.
 *
 * @module
 */
import { borrow, list, own, result, type Interface } from './types.ts';

export const IO_ERROR: Interface = {
  id: 'wasi:io/error@0.2.0',
  uses: {},
  types: { error: 'resource' },
  functions: {},
};

export const IO_POLL: Interface = {
  id: 'wasi:io/poll@0.2.0',
  uses: {},
  types: { pollable: 'resource' },
  functions: { '[method]pollable.block': { params: { self: borrow('pollable') } } },
};

export const IO_STREAMS: Interface = {
  id: 'wasi:io/streams@0.2.0',
  uses: { error: IO_ERROR },
  types: {
    'input-stream': 'resource',
    'output-stream': 'resource',
    'stream-error': { variant: { 'last-operation-failed': own('error'), closed: undefined } },
  },
  functions: {
    '[method]input-stream.blocking-read': {
      params: { self: borrow('input-stream'), len: 'u64' },
      result: result(list('u8'), 'stream-error'),
    },
    '[method]output-stream.blocking-write-and-flush': {
      params: { self: borrow('output-stream'), contents: list('u8') },
      result: result(undefined, 'stream-error'),
    },
  },
};
