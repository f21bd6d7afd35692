/**
 * How files of a Python cell are opened in tests.
 *
 * @module
 */
import type { OpenOptions } from '../../../guest/wasm/python/files/contract.ts';

export const READ: OpenOptions = {
  read: true,
  write: false,
  create: false,
  exclusive: false,
  truncate: false,
  directory: false,
};
