/**
 * The command that serves skills over HTTP.
 *
 * @module
 */
import type { Command } from 'commander';
import type { ServeFlags } from './commands/serve.ts';
import type { NewTokenFlags, TokenFlags } from './commands/tokens.ts';
import {
  collect,
  example,
  withClusterOptions,
  withOfferOptions,
  withPoolOptions,
  type Done,
} from './shared-options.ts';

export function addService(program: Command, done: Done): void {
  addTokens(program, done);
  withClusterOptions(withPoolOptions(withOfferOptions(program.command('serve'))))
    .description('serve the skills over HTTP, with a console in the browser')
    .option('--port <n>', 'port to listen on; 0 picks a free one', '7399')
    .option(
      '--host <address>',
      'address to listen on; a token is required unless it is a loopback address',
      '127.0.0.1',
    )
    .option('--allow-host <name>', 'host name that clients may use for this machine; repeatable', collect)
    .option('--access <file>', "file with tokens and limits (default: access.json in Skillcell's home)")
    .option('--access-log <file>', 'append one JSON line per request to this file; - for stdout')
    .option('--new-token <name>', 'create a token, print it and exit')
    .option('--scopes <list>', 'scopes of the new token: call, read, metrics, upload, admin', 'call,read')
    .option('--tenant <name>', 'tenant of the new token', 'default')
    .option('--expires <days>', 'days until the new token expires (default: never)')
    .option('--drain <duration>', 'time that running calls get to finish on shutdown', '30s')
    .option('--max-body <size>', 'maximum size of a request body', '1MiB')
    .option('--workspace <dir>', 'folder that ${workspace} in manifests stands for')
    .option('--env <name>', 'variable or secret that skills may use without approval; repeatable', collect)
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)')
    .option('--tenants <file>', 'tenants that share nothing: workspace, secrets, policy and limits of each')
    .option('--programs', 'also run programs that callers send, which call the skills (docs/programs.md)')
    .option('--keep-content', 'store parameters and results in the receipts instead of only their digests')
    .addHelpText('after', example('serve --new-token laptop --scopes call,read'))
    .action(async (options: ServeFlags) => {
      const { serve } = await import('./commands/serve.ts');
      done(await serve(options));
    });
}

function addTokens(program: Command, done: Done): void {
  const tokens = program.command('tokens').description('manage the tokens of the HTTP service');
  const command = (name: string, argument?: string): Command => {
    const made = tokens.command(name, { isDefault: name === 'list' });
    if (argument !== undefined) made.argument(argument, 'name or id of a token');
    return made
      .option('--access <file>', "file with the tokens (default: access.json in Skillcell's home)")
      .option('--json', 'print JSON');
  };
  command('list')
    .description('list tokens with tenant, scopes, expiry and last use; never their secrets')
    .addHelpText('after', example('tokens list'))
    .action(async (options: TokenFlags) => {
      const { tokensList } = await import('./commands/tokens.ts');
      done(tokensList(options));
    });
  command('create')
    .argument('<name>', 'name of the new token')
    .description('create a token and print its secret once')
    .option('--scopes <list>', 'scopes: call, read, metrics, upload, admin', 'call,read')
    .option('--tenant <name>', 'tenant that the token belongs to', 'default')
    .option('--expires <days>', 'days until it expires (default: never)')
    .addHelpText('after', example('tokens create laptop --tenant acme --scopes call,read --expires 30'))
    .action(async (name: string, options: NewTokenFlags) => {
      const { tokensCreate } = await import('./commands/tokens.ts');
      done(tokensCreate(name, options));
    });
  command('revoke', '<token>')
    .description('revoke a token; running services refuse it at once')
    .addHelpText('after', example('tokens revoke laptop'))
    .action(async (token: string, options: TokenFlags) => {
      const { tokensRevoke } = await import('./commands/tokens.ts');
      done(tokensRevoke(token, options));
    });
  command('rotate', '<token>')
    .description('give a token a new secret and print it once')
    .option('--grace <duration>', 'time that the old secret keeps working (default: none)')
    .addHelpText('after', example('tokens rotate laptop --grace 1h'))
    .action(async (token: string, options: TokenFlags & { grace?: string }) => {
      const { tokensRotate } = await import('./commands/tokens.ts');
      done(tokensRotate(token, options));
    });
}
