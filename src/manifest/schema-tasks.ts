/**
 * The worker-thread tasks for schemas with patterns or references, and for large schemas and values.
 *
 * @module
 */
import { besideThis, type Task, type Tasks, type ThreadMemory } from '../offload/task.ts';
import { compileSchema, type SchemaCheck, type SchemaContext } from './json-schema.ts';
import type { JsonSchema } from './manifest.ts';

/** Number of compiled schemas that a thread keeps; each belongs to one skill. */
const KEPT = 64;

const MODULE = besideThis(import.meta.url, './schema-tasks');

export interface SchemaInput {
  schema: JsonSchema;
  context: SchemaContext;
}

export const COMPILE_SCHEMA: Task<SchemaInput, undefined> = { module: MODULE, name: 'compileSchema' };
export const CHECK_VALUE: Task<SchemaInput & { json: string }, string[]> = {
  module: MODULE,
  name: 'checkValue',
};

/** Compiles each schema once per thread. */
export function compileOnce({ schema, context }: SchemaInput, memory: ThreadMemory): SchemaCheck {
  const key = JSON.stringify(schema);
  const check = (memory.get(key) as SchemaCheck | undefined) ?? compileSchema(schema, context);
  memory.delete(key);
  memory.set(key, check);
  for (const oldest of memory.keys()) {
    if (memory.size <= KEPT) break;
    memory.delete(oldest);
  }
  return check;
}

export const tasks: Tasks = {
  compileSchema: (input: SchemaInput, memory: ThreadMemory): undefined => {
    compileOnce(input, memory);
  },
  checkValue: ({ json, ...input }: SchemaInput & { json: string }, memory: ThreadMemory): string[] =>
    compileOnce(input, memory).check(JSON.parse(json)),
};
