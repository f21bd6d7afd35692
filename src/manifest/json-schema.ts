/**
 * Checks values against the JSON Schemas of a skill (`parameters`, `outputs`), read as draft 2020-12.
 * Neither the schema nor the value is trusted: sizes are capped and every step runs under a deadline.
 *
 * @module
 */
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { SkillError } from '../errors.ts';
import { draftCheck } from './draft-check.ts';
import { createGuard, DeadlineError, type Guard } from './deadline.ts';
import type { JsonSchema } from './manifest.ts';
import { manifestInvalid } from './problems.ts';
import { quote, shortLine } from './quote.ts';
import { isLinear, schemaProblem } from './schema-caps.ts';

export const COMPILE_DEADLINE_MS = 5000;
/** Normal checks take well under a millisecond. This is how long a hostile pattern can occupy a worker thread. */
export const CHECK_DEADLINE_MS = 1000;
const MAX_REPORTED = 20;
/** For values larger than this, only the first error is reported: a full list can take more memory than the value. */
const SMALL_VALUE = 1000;
const CHARACTERS_PER_VALUE = 100;

export interface SchemaContext {
  file: string;
  /** Key of the manifest that holds the schema, e.g. `parameters`. */
  at: string;
}

export interface SchemaCheck {
  /** Readable problems, each with its JSON pointer; empty if the value is valid. */
  check(value: unknown): string[];
}

/**
 * Compiles a schema on this thread. Throws `manifest_invalid`. The check itself never throws and never hangs, but it may
 * occupy the thread until its deadline: use `prepareCheck` unless it is certainly quick.
 */
export function compileSchema(schema: JsonSchema, context: SchemaContext): SchemaCheck {
  const refused = schemaProblem(schema);
  if (refused !== undefined) throw invalidSchema(refused, context);
  const guard = createGuard();
  const fits = compileGuarded(schema, { guard, context });
  const linear = isLinear(schema);
  let all: ValidateFunction | undefined;
  const check = (value: unknown): string[] => {
    const small = isSmall(value);
    // The watchdog costs more than the check, so it is skipped if schema and value guarantee a short check.
    if (linear && small && fits(value)) return [];
    return guard(CHECK_DEADLINE_MS, () => {
      if (fits(value)) return [];
      if (!small) return describeAll(fits.errors);
      all ??= compile(schema, true);
      return all(value) ? [] : describeAll(all.errors);
    });
  };
  return { check: (value) => orReason(() => check(value)) };
}

function orReason(check: () => string[]): string[] {
  try {
    return check();
  } catch (error) {
    return [`(root): could not be checked: ${reasonOf(error)}`];
  }
}

/** Skillware `outputs`: present keys must match their schema, missing keys are allowed, a non-object is not. */
export function compileOutputs(outputs: Record<string, JsonSchema>, context: SchemaContext): SchemaCheck {
  if (Object.keys(outputs).length === 0) return { check: () => [] };
  return compileSchema({ type: 'object', properties: outputs }, context);
}

function compileGuarded(schema: JsonSchema, use: { guard: Guard; context: SchemaContext }): ValidateFunction {
  // Compiled outside the deadline, which could leave it half-built for all later schemas.
  const isSchema = draftCheck();
  try {
    return use.guard(COMPILE_DEADLINE_MS, () => {
      if (!isSchema(withoutAddress(schema)))
        throw new Error(`schema is invalid: ${new Ajv2020({ meta: false }).errorsText(isSchema.errors)}`);
      return compile(schema, false);
    });
  } catch (error) {
    // The machine is busy, which is not a problem of the schema.
    if (error instanceof SkillError) throw error;
    throw invalidSchema(reasonOf(error), use.context);
  }
}

/** Every draft is read as 2020-12, and a schema needs no `$id` without remote references. */
function withoutAddress({ $schema: _draft, $id: _address, ...rest }: JsonSchema): JsonSchema {
  return rest;
}

/**
 * Uses a new Ajv for each schema: a shared one would keep every schema forever and let the `$id` of one skill collide
 * with another's. Ajv compiles the schema to code, with every name and literal escaped; `inlineRefs` is off because
 * inlining multiplies the size of that code.
 */
function compile(schema: JsonSchema, allErrors: boolean): ValidateFunction {
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    allErrors,
    inlineRefs: false,
    ownProperties: true,
    validateSchema: false,
    meta: false,
  });
  formats.default(ajv);
  return ajv.compile(withoutAddress(schema));
}

function isSmall(value: unknown): boolean {
  let left = SMALL_VALUE;
  const count = (current: unknown): boolean => {
    left -= typeof current === 'string' ? 1 + current.length / CHARACTERS_PER_VALUE : 1;
    if (left < 0) return false;
    return typeof current !== 'object' || current === null || Object.values(current).every(count);
  };
  return count(value);
}

function describeAll(errors: ValidateFunction['errors']): string[] {
  const texts = [...new Set((errors ?? []).map(describe))];
  const rest = texts.length - MAX_REPORTED;
  return rest > 0 ? [...texts.slice(0, MAX_REPORTED), `(root): and ${rest} more problems`] : texts;
}

function describe(error: ErrorObject): string {
  const place = error.instancePath === '' ? '(root)' : shortLine(error.instancePath);
  return `${place}: ${shortLine(error.message ?? 'is invalid')}${hint(error)}`;
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
        .map((v) => shortLine(JSON.stringify(v)))
        .join(', ')}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof DeadlineError)
    return 'it takes too long, likely because of a pattern or nested references';
  if (error instanceof RangeError) return 'it refers to itself endlessly or is nested too deeply';
  return shortLine(error instanceof Error ? error.message : String(error));
}

export function invalidSchema(message: string, context: SchemaContext): Error {
  return manifestInvalid(context.file, [
    { path: context.at, message: `Is not a usable JSON Schema: ${message}` },
  ]);
}
