/**
 * Runs a program of a code mode in a cell. The tools of the framework stay functions of the host, which the program calls
 * through the bridge; skills may be called beside them.
 *
 * @module
 */
import type { Outcome } from '../../outcome.ts';
import type { Program, ProgramOptions } from '../../programs/programs.ts';
import type { Runtime } from '../../runtime.ts';
import type { HostFunctions } from '../../tree/functions.ts';

/** Options of every code mode. */
export interface CodeModeOptions {
  /** Skills that programs may call beside the tools of the framework: names or patterns. Each call has a cell of its own. */
  skills?: Program['skills'];
  /** Limits of every program. What the framework itself limits counts too. */
  limits?: ProgramOptions['limits'];
  /** Options of every program, such as `caller`. */
  program?: Omit<ProgramOptions, 'limits' | 'signal' | 'reject'>;
  /** Gets the whole outcome of every program, with the `call_id` of its receipt and the calls inside. */
  onOutcome?: (outcome: Outcome) => void;
}

/** A tool of a framework. Whatever it throws becomes an exception of the program. */
export type HostTool = (args: unknown[], signal: AbortSignal) => unknown;

export interface ToolProgram {
  /** Source that defines what the framework promises, in terms of `call(tool, args)`; on one line. */
  prelude: string;
  /** The body of an asynchronous function. */
  body: string;
  tools: ReadonlyMap<string, HostTool>;
  limits?: ProgramOptions['limits'];
  signal?: AbortSignal | undefined;
}

export interface ToolProgramEnd {
  result?: unknown;
  /** Of the program, or why it could not run or go on. */
  error?: { name: string; message: string; line?: number };
  /** Lines that it printed. */
  logs: string[];
}

/** How the program ends inside its cell. */
interface Ended {
  value?: unknown;
  error?: { name?: unknown; message?: unknown; stack?: unknown };
}

export async function runToolProgram(
  runtime: Runtime,
  program: ToolProgram,
  options: CodeModeOptions,
): Promise<ToolProgramEnd> {
  const { skills = [], limits, program: more, onOutcome } = options;
  const names = new Map([...program.tools.keys()].map((tool, at) => [tool, nameOf(tool, at)]));
  const functions: HostFunctions = Object.fromEntries(
    [...program.tools].map(([tool, run]) => [names.get(tool) ?? tool, hostFunction(run)]),
  );
  const outcome = await runtime.program(
    { language: 'typescript', source: sourceOf(program, names), skills, functions },
    null,
    {
      ...more,
      limits: { ...program.limits, ...limits },
      ...(program.signal ? { signal: program.signal } : {}),
      reject: false,
    },
  );
  onOutcome?.(outcome);
  const logs = outcome.logs === '' ? [] : outcome.logs.replace(/\n$/, '').split('\n');
  if ('error' in outcome)
    return { error: { name: outcome.error.code, message: outcome.error.message }, logs };
  return { ...endOf(outcome.result), logs };
}

/** A program can end the function around its body early, and then returns what it likes. */
function endOf(result: unknown): Omit<ToolProgramEnd, 'logs'> {
  const { value, error } = (typeof result === 'object' && result !== null ? result : {}) as Ended;
  if (!error) return { result: value };
  const { name = 'Error', message = '', stack = '' } = error;
  const line = /program\.ts:(\d+)/.exec(String(stack))?.[1];
  return {
    error: {
      name: textOf(name),
      message: textOf(message),
      ...(line === undefined ? {} : { line: Number(line) }),
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What the record of a call shows; numbered, because names of tools may be anything. */
function nameOf(tool: string, at: number): string {
  return `${tool
    .replaceAll(/\W/g, '_')
    .replace(/^(?=\d)/, '_')
    .slice(0, 80)}_${at}`;
}

/** The error of a tool is a value on the bridge: the program gets its message as the framework would show it. */
function hostFunction(run: HostTool): HostFunctions[string] {
  return {
    execute: async (params, { signal }) => {
      try {
        return { value: await run((params as { args: unknown[] }).args, signal) };
      } catch (error) {
        return { error: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}

/** The lines of the body keep their numbers: everything else is on its first and last line. */
function sourceOf({ prelude, body }: ToolProgram, names: ReadonlyMap<string, string>): string {
  const bridge =
    `const call = ((names, functions) => async (tool, args) => { ` +
    `if (!Object.hasOwn(names, tool)) throw new Error('Tool "' + tool + '" not found'); ` +
    `const { value, error } = await functions[names[tool]]({ args }); ` +
    `if (error !== undefined) throw new Error(error); return value; })(${JSON.stringify(Object.fromEntries(names))}, functions);`;
  const end =
    `const ended = (error) => ({ error: { name: String(error?.name ?? 'Error'), ` +
    `message: String(error?.message ?? error), stack: String(error?.stack ?? '') } });`;
  return `${bridge} ${end} ${prelude} const program = async () => {${body}\n}; try { return { value: await program() }; } catch (error) { return ended(error); }`;
}
