/**
 * Queries over many receipts. Worker threads run them on their own read-only connection.
 *
 * @module
 */
import { besideThis, type Task, type Tasks } from '../offload/task.ts';
import { openToRead } from './open-database.ts';
import { prepareQueries, reader, type AuditReader, type ListOptions } from './queries.ts';
import type { StoredReceipt, Verification } from './queries.ts';

const MODULE = besideThis(import.meta.url, './tasks');

export const VERIFY_LOG: Task<{ file: string; rememberedHead?: string | undefined }, Verification> = {
  module: MODULE,
  name: 'verifyLog',
};
export const LIST_RECEIPTS: Task<{ file: string; filter: ListOptions }, StoredReceipt[]> = {
  module: MODULE,
  name: 'listReceipts',
};

function asking<T>(file: string, ask: (log: AuditReader) => T): T {
  const database = openToRead(file);
  try {
    return ask(reader(prepareQueries(database)));
  } finally {
    database.close();
  }
}

export const tasks: Tasks = {
  verifyLog: ({ file, rememberedHead }: { file: string; rememberedHead?: string }): Verification =>
    asking(file, (log) => log.verify(rememberedHead === undefined ? {} : { rememberedHead })),
  listReceipts: ({ file, filter }: { file: string; filter: ListOptions }): StoredReceipt[] =>
    asking(file, (log) => log.list(filter)),
};
