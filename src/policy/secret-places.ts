/**
 * The files that hold the policy's secrets, and the programs that fetch them. A skill that could change such a program
 * would run code as the host; one that could read such a file would have the secrets.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { OperatorPolicy } from './operator.ts';

/** Files and folders that hold secret values. */
export function secretFiles({ secrets = [] }: OperatorPolicy): string[] {
  return secrets.flatMap((source) => (typeof source === 'object' && 'file' in source ? [source.file] : []));
}

export interface SecretPrograms {
  /** Programs, and files among their arguments, such as scripts. */
  files: string[];
  /** Folders of PATH that are searched for programs without a folder, up to the one that has the program. */
  folders: string[];
}

export function secretPrograms(
  { secrets = [] }: OperatorPolicy,
  path: string = process.env['PATH'] ?? '',
): SecretPrograms {
  const commands = secrets.flatMap((source) =>
    typeof source === 'object' && 'command' in source ? [source.command] : [],
  );
  const programs = commands.flatMap(([program = '']) => [program]);
  const args = commands.flatMap((command) => command.slice(1)).flatMap((arg) => [arg, afterEquals(arg)]);
  return {
    files: [...programs.filter((program) => program.includes('/')), ...args.filter(isFile)],
    folders: programs
      .filter((program) => !program.includes('/'))
      .flatMap((program) => foldersFor(program, path)),
  };
}

/** A relative folder counts too, relative to the host's working directory. */
function foldersFor(program: string, path: string): string[] {
  const folders = path.split(delimiter).map((folder) => (isAbsolute(folder) ? folder : join('.', folder)));
  const found = folders.findIndex((folder) => isFile(join(folder, program)));
  return found < 0 ? folders : folders.slice(0, found + 1);
}

/** `--config=FILE` also names a file. */
function afterEquals(arg: string): string {
  return arg.slice(arg.indexOf('=') + 1);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
