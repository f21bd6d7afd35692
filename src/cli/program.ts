/**
 * The tree of all commands. Help, completion and the man page are derived from it.
 *
 * @module
 */
import { packageVersion } from '../package-root.ts';
import { CliCommand, type Done } from './shared-options.ts';
import { addCommands } from './commands.ts';

export interface ProgramOptions {
  /** Print no usage errors: the caller does, as JSON. */
  quiet?: boolean;
  /** The first word of the command line, if it is only to be run. */
  first?: string | undefined;
}

export function createProgram(done: Done, { quiet = false, first }: ProgramOptions = {}): CliCommand {
  const program = new CliCommand(done, 'skillcell')
    .description('Runs untrusted AI-agent skills, each call in a fresh sandbox.')
    .version(packageVersion())
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(see --help)');
  if (quiet) program.configureOutput({ writeErr: () => undefined });
  addCommands(program, first);
  return program;
}
