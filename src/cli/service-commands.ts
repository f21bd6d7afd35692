/**
 * The command that serves skills over HTTP.
 *
 * @module
 */
import {
  define,
  withClusterOptions,
  withOfferOptions,
  withPoolOptions,
  type CliCommand,
} from './shared-options.ts';

export function addService(program: CliCommand): void {
  addTokens(program);
  define(program, 'serve', 'serve the skills over HTTP, with a console in the browser')
    .use(withOfferOptions, withPoolOptions, withClusterOptions)
    .option('--port <n>', 'port to listen on; 0 picks a free one', '7399')
    .option(
      '--host <address>',
      'address to listen on; a token is required unless it is a loopback address',
      '127.0.0.1',
    )
    .repeatable('--allow-host <name>', 'host name that clients may use for this machine')
    .option('--access <file>', "file with tokens and limits (default: access.json in Skillcell's home)")
    .option('--access-log <file>', 'append one JSON line per request to this file; - for stdout')
    .option('--new-token <name>', 'create a token, print it and exit')
    .option('--scopes <list>', 'scopes of the new token: call, read, metrics, upload, admin', 'call,read')
    .option('--tenant <name>', 'tenant of the new token', 'default')
    .option('--expires <days>', 'days until the new token expires (default: never)')
    .option('--drain <duration>', 'time that running calls get to finish on shutdown', '30s')
    .option('--max-body <size>', 'maximum size of a request body', '1MiB')
    .option('--workspace <dir>', 'folder that ${workspace} in manifests stands for')
    .repeatable('--env <name>', 'variable or secret that skills may use without approval')
    .option('--policy <file>', 'operator policy (default: every skillcell.policy.yaml here and above)')
    .option('--tenants <file>', 'tenants that share nothing: workspace, secrets, policy and limits of each')
    .option('--programs', 'also run programs that callers send, which call the skills (docs/programs.md)')
    .option('--keep-content', 'store parameters and results in the receipts instead of only their digests')
    .example('serve --new-token laptop --scopes call,read')
    .runs(async () => (await import('./commands/serve.ts')).serve);
}

function addTokens(program: CliCommand): void {
  const tokens = define(program, 'tokens', 'manage the tokens of the HTTP service');
  const command = (name: string, argument?: string): CliCommand => {
    const made = tokens.command(name, { isDefault: name === 'list' });
    if (argument !== undefined) made.argument(argument, 'name or id of a token');
    return made
      .option('--access <file>', "file with the tokens (default: access.json in Skillcell's home)")
      .json();
  };
  command('list')
    .description('list tokens with tenant, scopes, expiry and last use; never their secrets')
    .example('tokens list')
    .runs(async () => (await import('./commands/tokens.ts')).tokensList);
  command('create')
    .argument('<name>', 'name of the new token')
    .description('create a token and print its secret once')
    .option('--scopes <list>', 'scopes: call, read, metrics, upload, admin', 'call,read')
    .option('--tenant <name>', 'tenant that the token belongs to', 'default')
    .option('--expires <days>', 'days until it expires (default: never)')
    .example('tokens create laptop --tenant acme --scopes call,read --expires 30')
    .runs(async () => (await import('./commands/tokens.ts')).tokensCreate);
  command('revoke', '<token>')
    .description('revoke a token; running services refuse it at once')
    .example('tokens revoke laptop')
    .runs(async () => (await import('./commands/tokens.ts')).tokensRevoke);
  command('rotate', '<token>')
    .description('give a token a new secret and print it once')
    .option('--grace <duration>', 'time that the old secret keeps working (default: none)')
    .example('tokens rotate laptop --grace 1h')
    .runs(async () => (await import('./commands/tokens.ts')).tokensRotate);
}
