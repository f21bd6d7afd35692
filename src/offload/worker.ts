/**
 * Entry of a worker thread: does one task after the other. It has no environment and no authority beyond its input; the
 * host ends it when a task takes too long.
 *
 * @module
 */
import { parentPort } from 'node:worker_threads';
import { SkillError } from '../errors.ts';
import type { TaskAnswer, TaskFailure, TaskRequest, Tasks, ThreadMemory } from './task.ts';

const port = parentPort;
const modules = new Map<string, { tasks: Tasks; memory: ThreadMemory }>();

async function perform({ module, name, input }: TaskRequest): Promise<TaskAnswer> {
  try {
    let known = modules.get(module);
    if (!known) {
      const { tasks } = (await import(module)) as { tasks: Tasks };
      known = { tasks, memory: new Map() };
      modules.set(module, known);
    }
    const value: unknown = known.tasks[name]?.(input as never, known.memory);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, error: failureOf(error) };
  }
}

function failureOf(error: unknown): TaskFailure {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof SkillError)) return { message };
  const { code, fix, detail } = error;
  return { message, skill: { code, fix, detail } };
}

/** Memory of bytes that a task made for its result alone. */
function handedOver(answer: TaskAnswer): ArrayBuffer[] {
  if (!answer.ok || typeof answer.value !== 'object' || answer.value === null) return [];
  return Object.values(answer.value as Record<string, unknown>).flatMap((part) =>
    part instanceof Uint8Array && part.byteLength === part.buffer.byteLength
      ? [part.buffer as ArrayBuffer]
      : [],
  );
}

port?.on('message', (request: TaskRequest) => {
  // What cannot be sent ends this thread, and whoever waits for its answer is told.
  perform(request).then(
    (answer) => port.postMessage(answer, handedOver(answer)),
    () => process.exit(1),
  );
});
port?.postMessage('ready');
