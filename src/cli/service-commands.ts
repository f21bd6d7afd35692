/**
 * The command that serves skills over HTTP.
 *
 * @module
 */
import type { Command } from 'commander';
import type { ServeFlags } from './commands/serve.ts';
import { collected, example, type Done } from './shared-options.ts';

export function addService(program: Command, done: Done): void {
  program
    .command('serve')
    .description('serve the skills over HTTP, with a console in the browser')
    .option('--port <n>', 'port to listen on; 0 takes any that is free', '7399')
    .option('--host <address>', 'address to listen on; one that others can reach needs a token', '127.0.0.1')
    .option('--allow-host <name>', 'a name by which clients call this machine; may be repeated', collected)
    .option('--access <file>', 'tokens and limits (default: access.json in the home of Skillcell)')
    .option('--new-token <name>', 'make a token, print it and stop')
    .option('--scopes <list>', 'what the new token may do: call, read, admin', 'call,read')
    .option('--tenant <name>', 'whom the new token belongs to', 'default')
    .option('--expires <days>', 'for how many days the new token is good (default: until it is taken out)')
    .option('--drain <duration>', 'how long running calls may take to finish at the end', '30s')
    .option('--max-body <size>', 'largest request body', '1MiB')
    .option('--workspace <dir>', 'the folder that ${workspace} in a manifest stands for')
    .option(
      '--env <name>',
      'a variable or secret that skills may have though nobody approved them; may be repeated',
      collected,
    )
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)')
    .option('--keep-content', 'store parameters and results in the receipts, not only their digests')
    .addHelpText('after', example('serve --new-token laptop --scopes call,read'))
    .action(async (options: ServeFlags) => {
      const { serve } = await import('./commands/serve.ts');
      done(await serve(options));
    });
}
