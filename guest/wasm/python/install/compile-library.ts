/**
 * Compiles the standard library with the interpreter that will read it, in two threads, because that takes longer than
 * everything else that the installer does.
 *
 * @module
 */
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import { runSource } from '../engine/boot.ts';
import type { EngineCode } from '../engine/interpreter.ts';
import type { DataSegment } from '../engine/rewrite.ts';
import { READ_ONLY } from '../files/contract.ts';
import { start, type StartInput, type Started } from './start.ts';

const WORKER = new URL(
  `./compile-worker${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`,
  import.meta.url,
);
const LONGEST_MS = 300_000;
/** The thread has less to do besides. */
const SHARES = { here: 0, thread: 1 } as const;

export interface LibraryInput {
  /** The engine without marks. */
  code: Omit<EngineCode, 'libraries'>;
  data: DataSegment[];
  /** The archive with the sources. */
  library: Uint8Array;
  /** Defines `compile_share` and `merge`. */
  script: string;
  /** Modules, and additions to library modules, by path. */
  added: Record<string, string>;
}

export interface WorkerInput {
  input: LibraryInput;
  port: MessagePort;
  /** Set when the answer is at the port: the archive, or what went wrong. */
  done: Int32Array;
}

/** Without a second thread. */
export function compileAll(input: LibraryInput, report: StartInput['report']): Uint8Array {
  const started = start({ ...input, report });
  runSource(started.interpreter, `${input.script}\ncompile_all()\n`);
  return readFile(started, 'library.zip');
}

/** The thread begins at once. The returned function compiles the rest, and returns the whole archive. */
export function beginLibrary(input: LibraryInput, report: StartInput['report']): () => Uint8Array {
  const { port1, port2 } = new MessageChannel();
  const done = new Int32Array(new SharedArrayBuffer(4));
  const workerData: WorkerInput = { input, port: port2, done };
  const worker = new Worker(WORKER, { workerData, transferList: [port2] });
  worker.unref();
  return () => {
    const started = compileShare(input, SHARES.here, report);
    const other = started.scratch.open(['other.zip'], { ...READ_ONLY, write: true, create: true });
    if (Atomics.wait(done, 0, 0, LONGEST_MS) === 'timed-out') throw new Error('A thread takes too long');
    const answer: unknown = receiveMessageOnPort(port1)?.message;
    if (!(answer instanceof Uint8Array)) throw new Error(`A part of the library: ${String(answer)}`);
    other.write(answer, 0);
    runSource(started.interpreter, 'merge()');
    return readFile(started, 'library.zip');
  };
}

/** What the thread does. */
export function compileInThread({ input, port, done }: WorkerInput): void {
  let said = '';
  try {
    const started = compileShare(input, SHARES.thread, (text) => (said += text));
    port.postMessage(readFile(started, 'share.zip'));
  } catch (error) {
    port.postMessage(`${String(error)}\n${said}`);
  }
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
}

function compileShare(input: LibraryInput, share: number, report: StartInput['report']): Started {
  const started = start({ ...input, report });
  runSource(started.interpreter, `${input.script}\ncompile_share(${share})\n`);
  return started;
}

function readFile({ scratch }: Started, name: string): Uint8Array {
  const file = scratch.open([name], READ_ONLY);
  const content = new Uint8Array(file.stat().size);
  file.read(content, 0);
  return content;
}
