/**
 * Checks values against JSON Schemas that a skill supplies (`parameters`, `outputs`), read as draft 2020-12.
 * Neither the schema nor the value is trusted: sizes are capped and every step runs under a deadline.
 *
 * @module
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { createGuard, DeadlineError, type Guard } from './deadline.ts';
import type { JsonSchema } from './manifest.ts';
import { manifestInvalid } from './problems.ts';
import { quote } from './quote.ts';
import { schemaProblem } from './schema-caps.ts';

const COMPILE_DEADLINE_MS = 5000;
/** Honest checks take well under a millisecond. This is how long a hostile pattern may hold the thread. */
const CHECK_DEADLINE_MS = 1000;
const MAX_REPORTED = 20;
/** Collecting every error of a large value costs more memory than the value itself. */
const MAX_VALUES_FOR_ALL_ERRORS = 1000;

export interface SchemaContext {
  file: string;
  /** Key of the manifest that holds the schema, e.g. `parameters`. */
  at: string;
}

export interface SchemaCheck {
  /** Readable problems, each with the JSON pointer of the place; empty when the value fits. */
  check(value: unknown): string[];
}

/** Compiles a schema. Throws `manifest_invalid`. The check itself never throws and never hangs. */
export function compileSchema(schema: JsonSchema, context: SchemaContext): SchemaCheck {
  const guard = createGuard();
  const refused = schemaProblem(schema);
  if (refused !== undefined) throw invalidSchema(refused, context);
  const first = compileGuarded(schema, { guard, context });
  return {
    check(value) {
      try {
        return guard(CHECK_DEADLINE_MS, () => runCheck(value, { schema, first }));
      } catch (error) {
        return [`(root): could not be checked: ${reasonOf(error)}`];
      }
    },
  };
}

/** Skillware `outputs`: present keys must fit their schema, missing keys are fine, a non-object is not. */
export function compileOutputs(outputs: Record<string, JsonSchema>, context: SchemaContext): SchemaCheck {
  if (Object.keys(outputs).length === 0) return { check: () => [] };
  return compileSchema({ type: 'object', properties: outputs }, context);
}

function compileGuarded(schema: JsonSchema, use: { guard: Guard; context: SchemaContext }): ValidateFunction {
  try {
    return use.guard(COMPILE_DEADLINE_MS, () => compile(schema, false));
  } catch (error) {
    throw invalidSchema(reasonOf(error), use.context);
  }
}

/**
 * A new Ajv for each schema: a shared one would keep every schema for ever and let the `$id` of one skill
 * collide with another's. Ajv turns the schema into code, with every name and literal escaped; `inlineRefs`
 * is off because inlining multiplies the size of that code.
 */
function compile(schema: JsonSchema, allErrors: boolean): ValidateFunction {
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    allErrors,
    inlineRefs: false,
    ownProperties: true,
  });
  formats.default(ajv);
  // Dropped at the root: any draft is read as 2020-12, and an own address is of no use without remote references.
  const { $schema: _draft, $id: _address, ...rest } = schema;
  return ajv.compile(rest);
}

function runCheck(value: unknown, use: { schema: JsonSchema; first: ValidateFunction }): string[] {
  if (use.first(value)) return [];
  const errors = use.first.errors ?? [];
  if (!isSmall(value)) return describeAll(errors);
  const all = compile(use.schema, true);
  all(value);
  return describeAll(all.errors ?? errors);
}

function isSmall(value: unknown): boolean {
  let left = MAX_VALUES_FOR_ALL_ERRORS;
  const count = (current: unknown): boolean => {
    left -= 1;
    if (left < 0) return false;
    return typeof current !== 'object' || current === null || Object.values(current).every(count);
  };
  return count(value);
}

function describeAll(errors: readonly ErrorObject[]): string[] {
  const texts = [...new Set(errors.map(describe))];
  const rest = texts.length - MAX_REPORTED;
  return rest > 0 ? [...texts.slice(0, MAX_REPORTED), `(root): and ${rest} more problems`] : texts;
}

function describe(error: ErrorObject): string {
  const place = error.instancePath === '' ? '(root)' : quote(error.instancePath).slice(1, -1);
  return `${place}: ${error.message ?? 'does not fit'}${hint(error)}`;
}

function hint({ params }: ErrorObject): string {
  const { additionalProperty, allowedValues } = params as {
    additionalProperty?: string;
    allowedValues?: unknown[];
  };
  if (additionalProperty !== undefined) return `: ${quote(additionalProperty)}`;
  return allowedValues === undefined
    ? ''
    : `: ${allowedValues
        .slice(0, 10)
        .map((v) => quote(String(v)))
        .join(', ')}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof DeadlineError)
    return 'it takes too long, likely because of a pattern or nested references';
  if (error instanceof RangeError) return 'it refers to itself without end or is nested too deeply';
  return error instanceof Error ? error.message : String(error);
}

function invalidSchema(message: string, context: SchemaContext): Error {
  return manifestInvalid(context.file, [
    { path: context.at, message: `Is no usable JSON Schema: ${message}` },
  ]);
}
