/**
 * The commands that put skills and packages on this machine and remove them.
 *
 * @module
 */
import { define, type CliCommand } from './shared-options.ts';

export function addInstalling(program: CliCommand): void {
  define(
    program,
    'install',
    'fetch the requirements of a skill (wheels only; none of their code runs); copy it unless it is part of this project',
  )
    .argument('[skill]', 'absent, with --frozen: every skill of skills.lock.json')
    .option('--global', 'also copy a skill of this project, so that it can be run from everywhere')
    .option('--replace', 'replace an installed skill that has the same name')
    .option(
      '--frozen',
      'install exactly the packages that skill.lock pins, or exactly the skills that skills.lock.json pins, or fail',
    )
    .option('--upgrade', 'resolve the requirements again and update the pins in skill.lock')
    .option('--yes', 'also install packages that only the imports of an Agent Skills folder suggest')
    .json()
    .example('install ./my_skill')
    .runs(async () => installWith);
  addFetching(program);
  define(program, 'uninstall', 'remove an installed skill')
    .argument('<skill>', 'id of an installed skill, with an optional @version')
    .json()
    .example('uninstall text/shout@1.0.0')
    .runs(async () => (await import('./commands/install.ts')).uninstall);
  define(program, 'prune', 'remove packages, staged skills and caches that no skill used for a week')
    .option('--dry-run', 'only show what would be removed')
    .option('--all', 'remove everything that is not in use, however recently it was used')
    .json()
    .example('prune --dry-run')
    .runs(async () => (await import('./commands/prune.ts')).prune);
}

async function installWith(skill: string | undefined, options: object): Promise<number> {
  if (skill === undefined) return (await import('./commands/install-pinned.ts')).installPinned(options);
  return (await import('./commands/install.ts')).install(skill, options);
}

/** Skills of others, from registries, repositories and archives. No agent can reach these commands. */
function addFetching(program: CliCommand): void {
  define(
    program,
    'add',
    'fetch skills, show what they ask for and who signed them, and pin them in skills.lock.json if you agree',
  )
    .argument('<source...>', 'oci://…, github:…, git+https://…, npm:…, file:… or https://…')
    .use(withAddOptions)
    .example('add oci://registry.example/skills/word_stats:1.2.0')
    .runs(async () => (await import('./commands/add.ts')).add);
  define(
    program,
    'update',
    'fetch newer versions of pinned skills, show what changed, and pin them if you agree',
  )
    .argument('[name...]', 'pinned skills; absent: all')
    .use(withAddOptions)
    .example('update text/word_stats')
    .runs(async () => (await import('./commands/add.ts')).update);
  define(program, 'outdated', 'list pinned skills that have newer versions, and versions that somebody moved')
    .option('--global', 'of the skills that you added for every folder')
    .option('--policy <file>', 'operator policy')
    .json()
    .example('outdated')
    .runs(async () => (await import('./commands/add.ts')).outdated);
  define(program, 'remove', 'remove a skill from skills.lock.json')
    .argument('<name>', 'pinned skill')
    .option('--global', 'one that you added for every folder')
    .json()
    .example('remove text/word_stats')
    .runs(async () => (await import('./commands/add.ts')).remove);
}

function withAddOptions(command: CliCommand): CliCommand {
  return command
    .option('--global', 'for you, in every folder, instead of in the skills.lock.json of this one')
    .option('--yes', 'do not ask; counts only for sources that the operator policy allows')
    .repeatable('--allow-downgrade <name>', 'accept an older version of this skill')
    .repeatable('--allow-moved <name>', 'accept that the version of this skill now has other files')
    .repeatable('--new-signer <name>', 'ask about another signer of this skill instead of refusing')
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)')
    .json();
}
