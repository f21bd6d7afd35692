/**
 * What a cell answered to a call, before it is judged.
 *
 * @module
 */
import type { CapabilityEvent } from '../outcome.ts';
import type { GuestLimit } from '../vocabulary/limits.ts';

/**
 * How far a harness traced a failure: not caused by any denial that it saw itself (`inside`), or by any denial at all
 * (`wholly`).
 */
export type Explained = 'inside' | 'wholly';

export type GuestReply =
  | { kind: 'result'; value: unknown; warnings: string[] }
  | {
      kind: 'error';
      type: string;
      message: string;
      trace: string;
      denied?: CapabilityEvent;
      explained?: Explained;
      limit?: GuestLimit;
    }
  | { kind: 'broken'; message: string }
  /** A command that ended by itself. Made by the host, from what it saw. */
  | EndedCommand
  /** Too large to parse on the event loop, so not parsed yet. */
  | { kind: 'unread'; form: UnreadForm; bytes: Uint8Array; denials?: Denials };

export interface EndedCommand {
  kind: 'ended';
  exitCode: number;
  stdout: Buffer;
  stderr: Buffer;
}

/** Denials of a call, grouped by who observed them. */
export interface Denials {
  byHost: CapabilityEvent[];
  inside: CapabilityEvent[];
}

/** What unread bytes contain: a reply frame (`result`, `error`), or only the JSON of a result. */
export type UnreadForm = 'result' | 'error' | 'value';
