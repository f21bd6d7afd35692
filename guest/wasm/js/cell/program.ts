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

export interface ProgramModule {
  module: string;
  /** JSON */
  input: Uint8Array;
}

/** The host has checked the shape of the parameters. */
export function programModule(params: Uint8Array): ProgramModule {
  const { source, input = null } = JSON.parse(Buffer.from(params).toString('utf8')) as ProgramParams;
  return { module: moduleOf(source), input: Buffer.from(JSON.stringify(input)) };
}

/** Text that ends the function early is still only text of the module, which may do no more than the function. */
export function moduleOf(source: string): string {
  const module = EXPORT.test(source) ? source : `export async function execute(input) {${source}\n}`;
  try {
    return stripTypeScriptTypes(module);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return `throw new SyntaxError(${JSON.stringify(message.slice(0, MAX_MESSAGE))});`;
  }
}
