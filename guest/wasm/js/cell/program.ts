/**
 * A program that came with its call: turned into the module that the cell imports. Its lines keep their numbers.
 *
 * @module
 */
import { stripTypeScriptTypes } from 'node:module';
import type { ProgramParams } from '../../../protocol.ts';

/** A source with exports is a module; any other is the body of an asynchronous function. */
const EXPORT = /^\s*export\s/m;
const MAX_MESSAGE = 300;
/** What the compiler of Node says about a source that it understood well enough to refuse. */
const ABOUT_SOURCE: ReadonlySet<unknown> = new Set([
  'ERR_INVALID_TYPESCRIPT_SYNTAX',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
]);

/** The compiler trapped on the source. It is one Wasm instance per process, which would refuse every later source too. */
export class CompilerLost extends Error {
  constructor() {
    super('The source of the program is nested too deeply');
  }
}

export interface ProgramModule {
  module: string;
  /** JSON */
  input: Uint8Array;
}

/** The host has checked the shape of the parameters. Throws `CompilerLost`. */
export function programModule(params: Uint8Array): ProgramModule {
  const { source, input = null } = JSON.parse(Buffer.from(params).toString('utf8')) as ProgramParams;
  return { module: moduleOf(source), input: Buffer.from(JSON.stringify(input)) };
}

/** Text that ends the function early is still only text of the module, which may do no more than the function. */
function moduleOf(source: string): string {
  const body = `export async function execute(input) {${source}\n}`;
  const [first, second] = EXPORT.test(source) ? [source, body] : [body];
  const module = stripped(first);
  if (typeof module === 'string') return module;
  // A text in the source may look like an export.
  const other = second === undefined ? module : stripped(second);
  if (typeof other === 'string') return other;
  return `throw new SyntaxError(${JSON.stringify(module.message.slice(0, MAX_MESSAGE))});`;
}

function stripped(module: string): string | Error {
  try {
    return stripTypeScriptTypes(module);
  } catch (error) {
    if (error instanceof Error && ABOUT_SOURCE.has((error as NodeJS.ErrnoException).code)) return error;
    throw new CompilerLost();
  }
}
