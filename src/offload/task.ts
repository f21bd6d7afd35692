/**
 * Work that may take long because a stranger decides on its size: a function in a module, called by name in a worker
 * thread. Nothing but data goes in and comes out.
 *
 * @module
 */

/** One function that worker threads know. `module` has an export `tasks` with a function of this name. */
export interface Task<In, Out> {
  readonly module: string;
  readonly name: string;
  /** Never set; carries the types. */
  readonly types?: (input: In) => Out;
}

/** What a thread remembers between tasks, such as compiled schemas; each module keeps it small. */
export type ThreadMemory = Map<string, unknown>;

/** The functions of a module of tasks. Results that hold a `Uint8Array` hand its memory over. */
export type Tasks = Readonly<Record<string, (input: never, memory: ThreadMemory) => unknown>>;

/** What the host sends to a worker. */
export interface TaskRequest {
  module: string;
  name: string;
  input: unknown;
}

/** What a worker answers. */
export type TaskAnswer = { ok: true; value: unknown } | { ok: false; error: TaskFailure };

/** An error as data; `skill` holds what a SkillError consists of. */
export interface TaskFailure {
  message: string;
  skill?: { code: string; fix: string; detail: Record<string, unknown> };
}

/** The address of a module beside the caller, as source or as built. */
export function besideThis(url: string, name: string): string {
  return new URL(`${name}${url.endsWith('.ts') ? '.ts' : '.js'}`, url).href;
}

/** A task did not end within its time, or took more memory than a thread may have. */
export class TaskEndedError extends Error {
  override readonly name = 'TaskEndedError';
  readonly reason: 'deadline' | 'memory' | 'closed' | 'aborted';

  constructor(reason: TaskEndedError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface TaskOptions {
  /** From when a thread has taken it up. */
  deadlineMs: number;
  /** Whose work it is, e.g. the skill: neither an owner nor a tenant has all threads, and they are served in turn. */
  owner: string;
  /** For whom it is done. Absent: for nobody but its owner. Who has many skills has no more turns for it. */
  tenant?: string | undefined;
  /** Bytes of the input, for the limit on what waits. Those of the list are handed over, not copied. */
  transfer?: readonly Uint8Array[];
  signal?: AbortSignal | undefined;
}

/** The same bytes with memory of their own, which can be handed over to a thread. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer;
  return isWhole ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}

/** A copy that can be handed over while the original stays in use. `slice` of a Buffer would be a view of the same memory. */
export function copiedBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
