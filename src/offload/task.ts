/**
 * Work whose size untrusted input decides: a function in a module, called by name in a worker thread. Only data goes in
 * and comes out.
 *
 * @module
 */

/** A function that worker threads can call. `module` exports `tasks` with a function of this name. */
export interface Task<In, Out> {
  readonly module: string;
  readonly name: string;
  /** Never set; carries the types. */
  readonly types?: (input: In) => Out;
}

/** A thread's cache between tasks, e.g. of compiled schemas; each module keeps it small. */
export type ThreadMemory = Map<string, unknown>;

/** The functions of a task module. The memory of a `Uint8Array` in a result is transferred. */
export type Tasks = Readonly<Record<string, (input: never, memory: ThreadMemory) => unknown>>;

/** The host's message to a worker. */
export interface TaskRequest {
  module: string;
  name: string;
  input: unknown;
}

/** A worker's answer. */
export type TaskAnswer = { ok: true; value: unknown } | { ok: false; error: TaskFailure };

/** An error as data; `skill` holds the fields of a SkillError. */
export interface TaskFailure {
  message: string;
  skill?: { code: string; fix: string; detail: Record<string, unknown> };
}

/** The URL of a module next to the caller, as source or as built. */
export function besideThis(url: string, name: string): string {
  return new URL(`${name}${url.endsWith('.ts') ? '.ts' : '.js'}`, url).href;
}

/** A task missed its deadline, ran out of memory, or was stopped. */
export class TaskEndedError extends Error {
  override readonly name = 'TaskEndedError';
  readonly reason: 'deadline' | 'memory' | 'closed' | 'aborted';

  constructor(reason: TaskEndedError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface TaskOptions {
  /** Counted from when a thread starts the task. */
  deadlineMs: number;
  /** The party that causes the work, e.g. the skill. Neither an owner nor a tenant gets all threads. */
  owner: string;
  /** The tenant that the work is for; if absent, the owner. Tenants take turns, however many skills they call. */
  tenant?: string | undefined;
  /** Bytes of the input, which are transferred instead of copied and count towards the limit on queued bytes. */
  transfer?: readonly Uint8Array[];
  signal?: AbortSignal | undefined;
}

/** The same bytes in their own memory, which can be transferred to a thread. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isWhole = bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer;
  return isWhole ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}

/** A copy that can be transferred while the original stays in use. `slice` of a Buffer would only be a view. */
export function copiedBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
