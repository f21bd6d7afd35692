/**
 * Functions of the host that a program may call, as `functions.<name>(params)`. They run in the host, with its authority.
 *
 * @module
 */
import { MAX_JSON_HERE } from '../json-text.ts';
import { SkillError } from '../errors.ts';
import { assertDepth, notJson } from '../load/params.ts';
import type { JsonSchema } from '../manifest/manifest.ts';
import { prepareCheck, type ValueCheck } from '../manifest/schema-check.ts';
import type { Offload } from '../offload/offload.ts';

/** A function that the embedding program lends to a program in a cell. */
export interface HostFunction {
  description?: string;
  /** Schema of its parameters, an object; absent: anything is accepted, and the function must check. */
  parameters?: JsonSchema;
  /** Schema of its result, for typings. */
  outputs?: JsonSchema;
  /** The result must be JSON. The signal is aborted when the call ends. */
  execute(params: unknown, context: { signal: AbortSignal }): unknown;
}

/** By name. A plain function accepts any parameters. */
export type HostFunctions = Readonly<Record<string, HostFunction | ((params: unknown) => unknown)>>;

const NAME = /^[A-Za-z_]\w{0,99}$/;
/** Parsed in the host, so smaller than the parameters of a skill. */
const MAX_PARAMS_BYTES = 8 * MAX_JSON_HERE;

interface Lent {
  given: HostFunction;
  check: ValueCheck | undefined;
}

export class LentFunctions {
  readonly #lent: ReadonlyMap<string, Lent>;

  private constructor(lent: ReadonlyMap<string, Lent>) {
    this.#lent = lent;
  }

  static async from(functions: HostFunctions, offload: Offload): Promise<LentFunctions> {
    const lent = new Map<string, Lent>();
    for (const [name, given] of Object.entries(functions)) {
      if (!NAME.test(name)) throw badName(name);
      const own: HostFunction = typeof given === 'function' ? { execute: (params) => given(params) } : given;
      const source = { file: 'functions', at: name, offload, owner: 'program' };
      const check = own.parameters && (await prepareCheck(own.parameters, source));
      lent.set(name, { given: own, check });
    }
    return new LentFunctions(lent);
  }

  has(name: string): boolean {
    return this.#lent.has(name);
  }

  /** JSON in, JSON out. Throws what the function throws, and `invalid_params`. */
  async call(name: string, params: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const lent = this.#lent.get(name);
    if (!lent) throw new TypeError(`${name} is not a function of this program`);
    const value = parsed(params);
    const problems = (await lent.check?.check(value)) ?? [];
    if (problems.length > 0) throw unfit(name, problems);
    const result: unknown = await Promise.race([lent.given.execute(value, { signal }), untilAborted(signal)]);
    return Buffer.from(JSON.stringify(result ?? null));
  }
}

function parsed(params: Uint8Array): unknown {
  if (params.length > MAX_PARAMS_BYTES)
    throw invalid(`The parameters are ${params.length} bytes; the maximum is ${MAX_PARAMS_BYTES}`);
  const text = Buffer.from(params.buffer, params.byteOffset, params.byteLength).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw notJson(error);
  }
  assertDepth(text);
  return value;
}

/** A function that ignores the signal must not keep the call from ending. */
function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
  });
}

function unfit(name: string, problems: readonly string[]): SkillError {
  return new SkillError(
    'invalid_params',
    `The parameters do not match the schema of the function "${name}": ${problems.join('; ')}`,
    { fix: 'Pass parameters that match the schema.', detail: { problems } },
  );
}

function invalid(message: string): SkillError {
  return new SkillError('invalid_params', message, { fix: 'Pass less data.' });
}

function badName(name: string): SkillError {
  return new SkillError('usage', `${JSON.stringify(name)} is not a valid name of a function`, {
    fix: 'Use letters, digits and "_", not starting with a digit.',
  });
}
