/**
 * Loads the skill, runs it, and says what came of it.
 *
 * @module
 */
import { denialBehind } from './denials.ts';
import { HostFailure } from './pending.ts';
import { host, init } from './host.ts';
import { NotJson, toJson } from './json.ts';
import { forgetRandom } from './random.ts';

type Execute = (params: unknown) => unknown;
type SkillModule = Record<string, unknown>;

/** Taken before the skill could change them. */
const { parse, stringify } = JSON;
const MAX_CAUSES = 32;

let loaded: SkillModule | undefined;

/** Runs the module body ahead of all calls. */
export function load(): void {
  loadModule().then(
    () => host.reply('loaded', ''),
    (error: unknown) => fail(error),
  );
}

export function serve(params: string): void {
  forgetRandom();
  run(params).then(
    (text) => host.reply('result', text),
    (error: unknown) => fail(error),
  );
}

export function rejected(reason: unknown): void {
  fail(reason);
}

async function loadModule(): Promise<SkillModule> {
  loaded ??= (await import(init.entry)) as SkillModule;
  return loaded;
}

async function run(params: string): Promise<string> {
  const execute = executeOf(loaded ?? (await loadModule()));
  const result: unknown = await execute(parse(params));
  return toJson(result);
}

/** `execute` itself, or that of an object or class that is the default export. */
function executeOf(skill: SkillModule): Execute {
  if (typeof skill['execute'] === 'function') return skill['execute'] as Execute;
  const standard = skill['default'];
  const holder = isClass(standard) ? new standard() : standard;
  const execute = (holder as { execute?: unknown } | null | undefined)?.execute;
  if (typeof execute === 'function') return (params) => (execute as Execute).call(holder, params);
  if (typeof standard === 'function') return standard as Execute;
  throw new TypeError(
    `${init.entry} exports no function "execute", and no class or object with a method "execute" as default`,
  );
}

function isClass(value: unknown): value is new () => unknown {
  return (
    typeof value === 'function' && typeof (value.prototype as { execute?: unknown })?.execute === 'function'
  );
}

function fail(error: unknown): void {
  const denied = denialBehind(error);
  const told = { ...describe(error), ...(denied ? { denied } : { explained: explained(error) }) };
  host.reply('error', stringify(told));
}

/** Somebody else may be behind a failure of the host, such as the gateway. */
function explained(error: unknown): 'inside' | 'wholly' {
  let cause: unknown = error;
  for (let left = MAX_CAUSES; left > 0 && cause instanceof Error; left--) {
    if (cause instanceof HostFailure) return 'inside';
    cause = cause.cause;
  }
  return 'wholly';
}

interface Description {
  type: string;
  message: string;
  trace: string;
}

const MAX_TEXT = 10_000;

/** An error of a skill may be anything, and do anything when it is looked at. */
function describe(error: unknown): Description {
  const typed = error instanceof NotJson ? 'NotJson' : undefined;
  return {
    type: typed ?? textOf(() => (error as Error).name) ?? textOf(() => typeof error) ?? 'Error',
    message:
      textOf(() => (error as Error).message) ?? textOf(() => String(error)) ?? 'an error that has no text',
    trace: traceOf(textOf(() => (error as Error).stack) ?? ''),
  };
}

function textOf(read: () => unknown): string | undefined {
  try {
    const text = read();
    return typeof text === 'string' && text !== '' ? text.slice(0, MAX_TEXT).toWellFormed() : undefined;
  } catch {
    return undefined;
  }
}

/** The skill's own lines. */
function traceOf(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !line.includes('skillcell:prelude') && !line.includes('(native)') && line.trim() !== '')
    .join('\n');
}
