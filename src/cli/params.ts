/**
 * Parameters of a call on the command line.
 *
 * @module
 */
import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { SkillError, parseExact } from '../inside.ts';

const MAX_PARAMS_BYTES = 16 * 1024 * 1024;

export interface ParamFlags {
  params?: string;
  paramsFile?: string;
}

export async function readParams(flags: ParamFlags): Promise<unknown> {
  return parseParams(await readText(flags));
}

/** From the option, the file (`-` is stdin), or stdin if it is not a terminal; otherwise no parameters. */
async function readText({ params, paramsFile }: ParamFlags): Promise<string> {
  if (params !== undefined && paramsFile !== undefined) {
    throw new SkillError('usage', 'Both --params and --params-file were given', {
      fix: 'Use only one of them.',
    });
  }
  // No JSON text starts with "@", so this takes no value away.
  const file = params?.startsWith('@') ? params.slice(1) : paramsFile;
  if (file === '-') return readStdin();
  if (file !== undefined) return readFileParams(file);
  if (params !== undefined) return params;
  return process.stdin.isTTY ? '' : readStdin();
}

async function readStdin(): Promise<string> {
  return decode(await collect(process.stdin, 'stdin'), 'stdin');
}

/** Standard input as text for a command. */
export async function readStdinText(): Promise<string> {
  const bytes = await collect(process.stdin, 'stdin');
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new SkillError('invalid_params', 'Standard input is not UTF-8 text', {
    fix: 'Put binary data into a file of the workspace, and pass its path.',
  });
}

/** A file as text for a command; read in parts, because it may have no end. */
export async function readFileText(file: string, what: string): Promise<string> {
  const bytes = await collect(createReadStream(file), `"${file}"`).catch((error: unknown) => {
    if (error instanceof SkillError) throw error;
    throw new SkillError(
      'usage',
      `Cannot read the ${what} "${file}": ${error instanceof Error ? error.message : ''}`,
      {
        fix: 'Check the path.',
        cause: error,
      },
    );
  });
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new SkillError('invalid_params', `The ${what} "${file}" is not UTF-8 text`, {
    fix: 'Save it as UTF-8.',
  });
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
      fix: 'Pass one JSON object, such as {"key": "value"}.',
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
    return parseExact(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SkillError('invalid_params', `The parameters are not valid JSON: ${reason}`, {
      fix: `Pass one JSON object, such as --params '{"key": "value"}'.`,
    });
  }
}
