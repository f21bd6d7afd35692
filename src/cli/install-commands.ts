/**
 * The commands that put skills and packages on this machine and remove them.
 *
 * @module
 */
import type { Command } from 'commander';
import { collect, example, type Done } from './shared-options.ts';

export function addInstalling(program: Command, done: Done): void {
  program
    .command('install')
    .argument('[skill]', 'absent, with --frozen: every skill of skills.lock.json')
    .description(
      'fetch the requirements of a skill (wheels only; none of their code runs); copy it unless it is part of this project',
    )
    .option('--global', 'also copy a skill of this project, so that it can be run from everywhere')
    .option('--replace', 'replace an installed skill that has the same name')
    .option(
      '--frozen',
      'install exactly the packages that skill.lock pins, or exactly the skills that skills.lock.json pins, or fail',
    )
    .option('--upgrade', 'resolve the requirements again and update the pins in skill.lock')
    .option('--yes', 'also install packages that only the imports of an Agent Skills folder suggest')
    .option('--json', 'print JSON')
    .addHelpText('after', example('install ./my_skill'))
    .action(async (skill: string | undefined, options: object) => {
      if (skill === undefined) {
        const { installPinned } = await import('./commands/install-pinned.ts');
        done(await installPinned(options));
        return;
      }
      const { install } = await import('./commands/install.ts');
      done(await install(skill, options));
    });
  addFetching(program, done);
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

/** Skills of others, from registries, repositories and archives. No agent can reach these commands. */
function addFetching(program: Command, done: Done): void {
  withAddOptions(
    program
      .command('add')
      .argument('<source...>', 'oci://…, github:…, git+https://…, npm:…, file:… or https://…'),
  )
    .description(
      'fetch skills, show what they ask for and who signed them, and pin them in skills.lock.json if you agree',
    )
    .addHelpText('after', example('add oci://registry.example/skills/word_stats:1.2.0'))
    .action(async (sources: string[], options: object) => {
      const { add } = await import('./commands/add.ts');
      done(await add(sources, options));
    });
  withAddOptions(program.command('update').argument('[name...]', 'pinned skills; absent: all'))
    .description('fetch newer versions of pinned skills, show what changed, and pin them if you agree')
    .addHelpText('after', example('update text/word_stats'))
    .action(async (names: string[], options: object) => {
      const { update } = await import('./commands/add.ts');
      done(await update(names, options));
    });
  program
    .command('outdated')
    .description('list pinned skills that have newer versions, and versions that somebody moved')
    .option('--global', 'of the skills that you added for every folder')
    .option('--policy <file>', 'operator policy')
    .option('--json', 'print JSON')
    .addHelpText('after', example('outdated'))
    .action(async (options: object) => {
      const { outdated } = await import('./commands/add.ts');
      done(await outdated(options));
    });
  program
    .command('remove')
    .argument('<name>', 'pinned skill')
    .description('remove a skill from skills.lock.json')
    .option('--global', 'one that you added for every folder')
    .option('--json', 'print JSON')
    .addHelpText('after', example('remove text/word_stats'))
    .action(async (name: string, options: object) => {
      const { remove } = await import('./commands/add.ts');
      done(await remove(name, options));
    });
}

function withAddOptions(command: Command): Command {
  return command
    .option('--global', 'for you, in every folder, instead of in the skills.lock.json of this one')
    .option('--yes', 'do not ask; counts only for sources that the operator policy allows')
    .option('--allow-downgrade <name>', 'accept an older version of this skill; repeatable', collect)
    .option(
      '--allow-moved <name>',
      'accept that the version of this skill now has other files; repeatable',
      collect,
    )
    .option(
      '--new-signer <name>',
      'ask about another signer of this skill instead of refusing; repeatable',
      collect,
    )
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)')
    .option('--json', 'print JSON');
}
