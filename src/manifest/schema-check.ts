/**
 * Checks values against a skill's schema: on this thread if the check is certainly quick, otherwise on a worker thread
 * with a deadline.
 *
 * @module
 */
import type { Offload } from '../offload/offload.ts';
import { TaskEndedError } from '../offload/task.ts';
import {
  CHECK_DEADLINE_MS,
  COMPILE_DEADLINE_MS,
  compileSchema,
  invalidSchema,
  type SchemaContext,
} from './json-schema.ts';
import type { JsonSchema } from './manifest.ts';
import { countValues, isLinear, MAX_VALUES_HERE, schemaProblem } from './schema-caps.ts';
import { CHECK_VALUE, COMPILE_SCHEMA } from './schema-tasks.ts';

/** Values of the schema times values and characters of the checked value: a few milliseconds. */
export const MAX_STEPS_HERE = 1_000_000;
/** Time after which a thread is terminated if its own deadline did not stop it. */
const GRACE_MS = 1000;
const TOO_LONG = 'it takes too long, likely because of a pattern or nested references';

export interface ValueCheck {
  /**
   * Readable problems, each with its JSON pointer; empty if the value is valid. Never throws.
   * The check uses a worker thread turn of `tenant`.
   */
  check(value: unknown, tenant?: string): string[] | Promise<string[]>;
}

export interface CheckOptions extends SchemaContext {
  offload: Offload;
  /** Name of the skill. */
  owner: string;
}

/** Throws `manifest_invalid` if the schema is not usable. */
export async function prepareCheck(schema: JsonSchema, options: CheckOptions): Promise<ValueCheck> {
  const { offload, owner, ...context } = options;
  const refused = schemaProblem(schema);
  if (refused !== undefined) throw invalidSchema(refused, context);
  const values = countValues(schema);
  const input = { schema, context };
  const away = async (value: unknown, tenant?: string): Promise<string[]> => {
    const json = JSON.stringify(value) ?? 'null';
    const options = { deadlineMs: CHECK_DEADLINE_MS + GRACE_MS, owner, tenant };
    return offload.run(CHECK_VALUE, { ...input, json }, options);
  };
  if (values > MAX_VALUES_HERE || !isLinear(schema)) {
    await compileAway(options, () =>
      offload.run(COMPILE_SCHEMA, input, { deadlineMs: COMPILE_DEADLINE_MS + GRACE_MS, owner }),
    );
    return { check: (value, tenant) => away(value, tenant).catch(problemOf) };
  }
  const here = compileSchema(schema, context);
  const most = MAX_STEPS_HERE / values;
  return {
    check: (value, tenant) =>
      isWithin(value, most) ? here.check(value) : away(value, tenant).catch(problemOf),
  };
}

/** Skillware `outputs`: present keys must match their schema, missing keys are allowed, a non-object is not. */
export async function prepareOutputs(
  outputs: Record<string, JsonSchema>,
  options: CheckOptions,
): Promise<ValueCheck> {
  if (Object.keys(outputs).length === 0) return { check: () => [] };
  return prepareCheck({ type: 'object', properties: outputs }, options);
}

async function compileAway(context: SchemaContext, compile: () => Promise<unknown>): Promise<void> {
  try {
    await compile();
  } catch (error) {
    throw error instanceof TaskEndedError ? invalidSchema(TOO_LONG, context) : error;
  }
}

function problemOf(error: unknown): string[] {
  const reason = error instanceof TaskEndedError && error.reason === 'deadline' ? TOO_LONG : String(error);
  return [`(root): could not be checked: ${reason}`];
}

/** Counts values and characters, including keys, no further than needed. */
function isWithin(value: unknown, most: number): boolean {
  let left = most;
  const count = (current: unknown): boolean => {
    left -= typeof current === 'string' ? 1 + current.length : 1;
    if (left < 0) return false;
    if (typeof current !== 'object' || current === null) return true;
    if (Array.isArray(current)) return current.every(count);
    return Object.entries(current).every(([key, child]) => {
      left -= key.length;
      return count(child);
    });
  };
  return count(value);
}
