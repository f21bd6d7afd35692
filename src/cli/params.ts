/**
 * Parameters of a call as the command line gives them.
 *
 * @module
 */
import { createReadStream } from 'node:fs';
import { SkillError } from '../index.ts';

const MAX_PARAMS_BYTES = 16 * 1024 * 1024;

export interface ParamFlags {
  params?: string;
  paramsFile?: string;
}

export async function readParams(flags: ParamFlags): Promise<unknown> {
  return parseParams(await readText(flags));
}

/** From the option, the file, or stdin when something is piped in; else no parameters. */
async function readText({ params, paramsFile }: ParamFlags): Promise<string> {
  if (params !== undefined && paramsFile !== undefined) {
    throw new SkillError('usage', 'Both --params and --params-file are given', { fix: 'Give one of them.' });
  }
  if (params !== undefined) return params;
  if (paramsFile !== undefined) return readFileParams(paramsFile);
  return process.stdin.isTTY ? '' : decode(await collect(process.stdin, 'stdin'), 'stdin');
}

async function readFileParams(file: string): Promise<string> {
  const name = `"${file}"`;
  try {
    return decode(await collect(createReadStream(file), name), name);
  } catch (error) {
    if (error instanceof SkillError) throw error;
    throw new SkillError('usage', `Cannot read the parameters from ${name}`, {
      fix: 'Check the path.',
      cause: error,
    });
  }
}

async function collect(stream: AsyncIterable<Buffer>, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > MAX_PARAMS_BYTES) throw tooLarge(name);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new SkillError('invalid_params', `The parameters from ${name} are not UTF-8 text`, {
      fix: 'Give one JSON object, such as {"key": "value"}.',
    });
  }
}

function tooLarge(name: string): SkillError {
  return new SkillError('invalid_params', `The parameters from ${name} are larger than 16 MiB`, {
    fix: 'Pass large data as a file in the workspace.',
  });
}

function parseParams(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SkillError('invalid_params', `The parameters are no JSON: ${reason}`, {
      fix: `Give one JSON object, such as --params '{"key": "value"}'.`,
    });
  }
}
