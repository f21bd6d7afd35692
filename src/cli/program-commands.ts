/**
 * The command that runs programs.
 *
 * @module
 */
import { define, type CliCommand } from './shared-options.ts';
import { PROGRAM_LANGUAGE_NAMES } from '../vocabulary/program-languages.ts';

export function addPrograms(program: CliCommand): void {
  define(
    program,
    'program',
    'run a program that calls skills; it and each skill that it calls get a sandbox of their own',
  )
    .argument('[file]', 'file with the program; - or nothing for stdin')
    .repeatable('--skills <glob>', 'skills that the program may call, such as text/word_stats or "finance/*"')
    .choice(
      '--language <language>',
      'language of the program (default: by the ending of the file)',
      PROGRAM_LANGUAGE_NAMES,
    )
    .option('--input <json>', 'input of the program as JSON, or @file')
    .option('--timeout <duration>', 'limit of the whole program, such as 30s')
    .option('--memory <size>', 'limit of the program itself, such as 64MiB')
    .option('--calls <n>', 'number of calls that the program may make', Number)
    .option('--workspace <dir>', 'folder that ${workspace} in the manifests of skills stands for')
    .repeatable('--env <name>', 'variable or secret that skills may use without approval')
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)')
    .json('print the whole outcome, with the calls inside')
    .option('--keep-content', 'store source, input and result in the receipts instead of only their digests')
    .example('program count.ts --skills "text/*" --input \'{"text": "To be"}\'')
    .runs(async () => (await import('./commands/program.ts')).runProgram);
}
