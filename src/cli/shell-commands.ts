/**
 * Commands about the command line itself: completion and configuration files.
 *
 * @module
 */
import { Argument, type Command } from 'commander';
import { example, type Done } from './shared-options.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function addShell(program: Command, done: Done): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'shell to print the script for').choices(SHELLS))
    .description('print a script that completes commands, options and skills in your shell')
    .addHelpText('after', example('completion bash >> ~/.bashrc'))
    .action(async (shell: Shell) => {
      const { completion } = await import('./commands/completion.ts');
      done(completion(shell));
    });
  const config = program.command('config').description('show the defaults that configuration files set');
  config
    .command('show', { isDefault: true })
    .description('show each default in force and the file it comes from')
    .option('--json', 'print JSON')
    .addHelpText('after', example('config show'))
    .action(async (options: object) => {
      const { configShow } = await import('./commands/config.ts');
      done(configShow(options));
    });
  // Called by the scripts: prints the candidates for the last word, one per line with its description.
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .helpOption(false)
    .action(async (words: string[]) => {
      const { complete } = await import('./commands/complete.ts');
      done(complete(program, words));
    });
}
