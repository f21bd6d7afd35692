/**
 * Files for cells without a file system. Every path is walked segment by segment from a handle of the granted directory,
 * without following links; a path from the guest is never resolved as a whole.
 *
 * @module
 */
import { BrokerRefusal, type BrokerReply, type BrokerRequest } from '../cell/contract.ts';
import type { Bundle } from '../load/bundle.ts';
import type { Grant } from '../policy/grant.ts';
import { foldersAround } from '../policy/guest-folders.ts';
import { FILE_OPERATIONS } from './file-operations.ts';
import { FileTable, realRoot } from './file-table.ts';
import type { Records } from './records.ts';

/** The guest's path of the bundle. */
const BUNDLE_PREOPEN = '/skill';

export class FileBroker {
  readonly #grant: Grant;
  readonly #bundle: Bundle;
  readonly #records: Records;
  /** Created with the first request, because most calls make none. */
  #table: FileTable | undefined;
  #closed = false;

  constructor(grant: Grant, bundle: Bundle, records: Records) {
    this.#grant = grant;
    this.#bundle = bundle;
    this.#records = records;
  }

  /** Undefined if the request is not about files. */
  async handle({ op, args, payload }: BrokerRequest): Promise<BrokerReply | undefined> {
    const operation = FILE_OPERATIONS[op];
    if (!operation) return undefined;
    if (this.#closed) throw new BrokerRefusal('badf', 'the call is over');
    try {
      this.#table ??= this.#openTable();
      return await operation(this.#table, args, payload ?? new Uint8Array());
    } catch (error) {
      throw refusal(error);
    }
  }

  close(): void {
    this.#closed = true;
    this.#table?.close();
  }

  #openTable(): FileTable {
    const table = new FileTable(this.#records);
    table.addRoot(realRoot({ host: this.#bundle.stagedDir, guest: BUNDLE_PREOPEN, writable: false }));
    for (const { host, guest, access, maxBytes } of this.#grant.filesystem) {
      const quota = maxBytes === undefined ? {} : { maxBytes };
      table.addRoot({ host, guest, writable: access === 'read-write', ...quota });
    }
    for (const guest of foldersAround(this.#grant.filesystem)) table.addRoot({ guest, writable: false });
    return table;
  }
}

function refusal(error: unknown): BrokerRefusal {
  if (error instanceof BrokerRefusal) return error;
  const code = (error as NodeJS.ErrnoException).code ?? '';
  // POSIX names without their E: `ENOENT` is `noent`. Node's own codes (`ERR_…`) become `io`.
  const isPosix = /^E[A-Z0-9]+$/.test(code);
  return new BrokerRefusal(isPosix ? code.slice(1).toLowerCase() : 'io', 'file operation failed');
}
