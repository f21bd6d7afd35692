/**
 * The command line. It parses, calls the runtime and prints; it has no rules of its own.
 * stdout carries results alone, everything else goes to stderr.
 *
 * @module
 */
import { Command, CommanderError } from 'commander';
import { packageVersion, SkillError, toSkillError } from '../index.ts';
import { addCommands } from './commands.ts';
import { printError } from './output.ts';

const USAGE_EXIT = 2;

/** Runs one command line and returns its exit code. */
export async function main(argv: string[]): Promise<number> {
  const program = new Command('skillcell')
    .description('Runs agent skills of strangers, each call in a fresh cell.')
    .version(packageVersion())
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(see --help)');
  let exitCode = 0;
  addCommands(program, (code) => (exitCode = code));
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (thrown) {
    // Commander has printed its own message, and --help and --version are no errors.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE_EXIT;
    const error = thrown instanceof SkillError ? thrown : toSkillError(thrown);
    printError(error.toBody());
    return error.exitCode;
  }
}
