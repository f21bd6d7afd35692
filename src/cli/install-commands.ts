/**
 * The commands that put skills and packages on this machine and remove them.
 *
 * @module
 */
import type { Command } from 'commander';
import { example, type Done } from './shared-options.ts';

export function addInstalling(program: Command, done: Done): void {
  program
    .command('install')
    .argument('<skill>')
    .description(
      'fetch the requirements of a skill (wheels only; none of their code runs); copy it unless it is part of this project',
    )
    .option('--global', 'also copy a skill of this project, so that it can be run from everywhere')
    .option('--replace', 'replace an installed skill that has the same name')
    .option('--frozen', 'install exactly the packages that skill.lock pins, or fail')
    .option('--upgrade', 'resolve the requirements again and update the pins in skill.lock')
    .option('--yes', 'also install packages that only the imports of an Agent Skills folder suggest')
    .option('--json', 'print JSON')
    .addHelpText('after', example('install ./my_skill'))
    .action(async (skill: string, options: object) => {
      const { install } = await import('./commands/install.ts');
      done(await install(skill, options));
    });
  program
    .command('uninstall')
    .argument('<skill>', 'id of an installed skill, with an optional @version')
    .description('remove an installed skill')
    .option('--json', 'print JSON')
    .addHelpText('after', example('uninstall text/shout@1.0.0'))
    .action(async (skill: string, options: object) => {
      const { uninstall } = await import('./commands/install.ts');
      done(await uninstall(skill, options));
    });
  program
    .command('prune')
    .description('remove packages, staged skills and caches that no skill used for a week')
    .option('--dry-run', 'only show what would be removed')
    .option('--all', 'remove everything that is not in use, however recently it was used')
    .option('--json', 'print JSON')
    .addHelpText('after', example('prune --dry-run'))
    .action(async (options: object) => {
      const { prune } = await import('./commands/prune.ts');
      done(await prune(options));
    });
}
