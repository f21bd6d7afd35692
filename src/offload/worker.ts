/**
 * Entry of a worker thread, which runs one task after another. It has no environment and no authority beyond its input;
 * the host terminates it if a task takes too long.
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

/** The memory of bytes that belong only to the result. */
function transferList(answer: TaskAnswer): ArrayBuffer[] {
  if (!answer.ok || typeof answer.value !== 'object' || answer.value === null) return [];
  return Object.values(answer.value as Record<string, unknown>).flatMap((part) =>
    part instanceof Uint8Array && part.byteLength === part.buffer.byteLength
      ? [part.buffer as ArrayBuffer]
      : [],
  );
}

port?.on('message', (request: TaskRequest) => {
  // An answer that cannot be sent ends this thread, which rejects the task on the host.
  perform(request).then(
    (answer) => port.postMessage(answer, transferList(answer)),
    () => process.exit(1),
  );
});
port?.postMessage('ready');
