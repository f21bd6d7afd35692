/**
 * The command that runs programs.
 *
 * @module
 */
import { Option, type Command } from 'commander';
import { PROGRAM_LANGUAGE_NAMES } from '../vocabulary/program-languages.ts';
import type { ProgramFlags } from './commands/program.ts';
import { collect, example, type Done } from './shared-options.ts';

export function addPrograms(program: Command, done: Done): void {
  program
    .command('program')
    .argument('[file]', 'file with the program; - or nothing for stdin')
    .description(
      'run a program that calls skills; it and each skill that it calls get a sandbox of their own',
    )
    .option(
      '--skills <glob>',
      'skills that the program may call, such as text/word_stats or "finance/*"; repeatable',
      collect,
    )
    .addOption(
      new Option(
        '--language <language>',
        'language of the program (default: by the ending of the file)',
      ).choices(PROGRAM_LANGUAGE_NAMES),
    )
    .addOption(
      new Option(
        '--execution <mode>',
        'wasm, or subprocess if the policy has "native_programs: true" (default: wasm)',
      ).choices(['wasm', 'subprocess']),
    )
    .option('--input <json>', 'input of the program as JSON, or @file')
    .option('--timeout <duration>', 'limit of the whole program, such as 30s')
    .option('--memory <size>', 'limit of the program itself, such as 64MiB')
    .option('--calls <n>', 'number of calls that the program may make', Number)
    .option('--workspace <dir>', 'folder that ${workspace} in the manifests of skills stands for')
    .option('--env <name>', 'variable or secret that skills may use without approval; repeatable', collect)
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)')
    .option('--json', 'print the whole outcome, with the calls inside')
    .option('--keep-content', 'store source, input and result in the receipts instead of only their digests')
    .addHelpText('after', example('program count.ts --skills "text/*" --input \'{"text": "To be"}\''))
    .action(async (file: string | undefined, options: ProgramFlags) => {
      const { runProgram } = await import('./commands/program.ts');
      done(await runProgram(file, options));
    });
}
