/**
 * Files for cells that see none themselves. Every path is walked segment by segment from a handle of the granted
 * directory, without following a link: no name that the guest gives is ever resolved as a whole.
 *
 * @module
 */
import { BrokerRefusal, type BrokerReply, type BrokerRequest } from '../cell/contract.ts';
import type { Bundle } from '../load/bundle.ts';
import type { CapabilityEvent } from '../outcome.ts';
import type { Grant } from '../policy/grant.ts';
import { FILE_OPERATIONS } from './file-operations.ts';
import { FileTable } from './file-table.ts';

/** What the guest sees of the bundle. */
export const BUNDLE_PREOPEN = '/skill';

export interface Record {
  used: CapabilityEvent[];
  denied: CapabilityEvent[];
}

export class FileBroker {
  readonly #table: FileTable;

  constructor(grant: Grant, bundle: Bundle, record: Record) {
    this.#table = new FileTable(record);
    this.#table.addRoot({ host: bundle.stagedDir, guest: BUNDLE_PREOPEN, writable: false });
    for (const path of grant.filesystem) {
      const quota = path.maxBytes === undefined ? {} : { maxBytes: path.maxBytes };
      this.#table.addRoot({
        host: path.host,
        guest: path.guest,
        writable: path.access === 'read-write',
        ...quota,
      });
    }
  }

  /** Undefined when the request is none about files. */
  handle({ op, args, payload }: BrokerRequest): BrokerReply | undefined {
    const operation = FILE_OPERATIONS[op];
    if (!operation) return undefined;
    try {
      return operation(this.#table, args, payload ?? new Uint8Array());
    } catch (error) {
      throw refusal(error);
    }
  }

  close(): void {
    this.#table.close();
  }
}

function refusal(error: unknown): BrokerRefusal {
  if (error instanceof BrokerRefusal) return error;
  const code = (error as NodeJS.ErrnoException).code;
  // POSIX names without their E: `ENOENT` is `noent`.
  return new BrokerRefusal(
    code?.startsWith('E') ? code.slice(1).toLowerCase() : 'io',
    'file operation failed',
  );
}
