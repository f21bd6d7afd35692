/**
 * Commands about the command line itself: completion and configuration files.
 *
 * @module
 */
import { Argument } from 'commander';
import { define, defineDefault, type CliCommand } from './shared-options.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function addShell(program: CliCommand): void {
  define(program, 'completion', 'print a script that completes commands, options and skills in your shell')
    .addArgument(new Argument('<shell>', 'shell to print the script for').choices(SHELLS))
    .example('completion bash >> ~/.bashrc')
    .runs(async () => (await import('./commands/completion.ts')).completion);
  const config = define(program, 'config', 'show the defaults that configuration files set');
  defineDefault(config, 'show', 'show each default in force and the file it comes from')
    .json()
    .example('config show')
    .runs(async () => (await import('./commands/config.ts')).configShow);
  // Called by the scripts: prints the candidates for the last word, one per line with its description.
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .helpOption(false)
    .runs(async () => {
      const { complete } = await import('./commands/complete.ts');
      return (words: string[]) => complete(program, words);
    });
}
