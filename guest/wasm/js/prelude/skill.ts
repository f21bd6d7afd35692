/**
 * Loads the skill, runs it, and reports the result.
 *
 * @module
 */
import { denialBehind } from './denials.ts';
import { executeOf, type SkillModule } from './entry-point.ts';
import { HostFailure } from './pending.ts';
import { host, init } from './host.ts';
import { NotJson, toJson } from './json.ts';
import { forgetRandom } from './random.ts';

/** Captured before the skill could change them. */
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
  const execute = executeOf(loaded ?? (await loadModule()), init.entry);
  const result: unknown = await execute(parse(params));
  return toJson(result);
}

function fail(error: unknown): void {
  const denied = denialBehind(error);
  const report = { ...describe(error), ...(denied ? { denied } : { explained: explained(error) }) };
  host.reply('error', stringify(report));
}

/** A failure of the host may have another cause, such as the gateway. */
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

/** A skill can throw anything, and its getters can do anything. */
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

/** Stack lines of the skill only. */
function traceOf(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !line.includes('skillcell:prelude') && !line.includes('(native)') && line.trim() !== '')
    .join('\n');
}
