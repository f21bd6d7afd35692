/**
 * Where secrets of the policy lie on this host, and the programs that fetch them. Whoever changes such a program has it run
 * as the host; whoever reads such a file has the secrets.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { OperatorPolicy } from './operator.ts';

/** Files and folders that hold values. */
export function secretFiles({ secrets = [] }: OperatorPolicy): string[] {
  return secrets.flatMap((source) => (typeof source === 'object' && 'file' in source ? [source.file] : []));
}

export interface SecretPrograms {
  /** Programs, and files among their arguments, such as scripts. */
  files: string[];
  /** Where programs are looked for that are named without a folder, up to where they are found. */
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

/** A relative folder counts as well: it is where the host is started. */
function foldersFor(program: string, path: string): string[] {
  const folders = path.split(delimiter).map((folder) => (isAbsolute(folder) ? folder : join('.', folder)));
  const found = folders.findIndex((folder) => isFile(join(folder, program)));
  return found < 0 ? folders : folders.slice(0, found + 1);
}

/** `--config=FILE` names a file too. */
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
