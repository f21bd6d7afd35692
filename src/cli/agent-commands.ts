/**
 * The commands by which agents reach skills.
 *
 * @module
 */
import { Option, type Command } from 'commander';
import type { McpFlags } from './commands/mcp.ts';
import type { ToolsFlags } from './commands/tools.ts';
import { collected, example, withPlanOptions, type Done } from './shared-options.ts';

const CLIENTS = ['claude', 'cursor', 'vscode'];
const FORMATS = ['openai', 'claude', 'gemini', 'deepseek', 'ollama', 'bedrock', 'mcp'];

export function addAgents(program: Command, done: Done): void {
  addTools(program, done);
  withPlanOptions(program.command('mcp'))
    .description(
      'offer the skills as tools to an agent (Model Context Protocol), on standard input and output',
    )
    .option('--http <port>', 'over HTTP instead, at http://127.0.0.1:<port>/mcp')
    .option('--host <address>', 'address to listen on; one that others can reach needs a token')
    .option('--allow-host <name>', 'a name by which clients call this machine; may be repeated', collected)
    .option('--token-file <file>', 'file with the token that clients must send (or SKILLCELL_MCP_TOKEN)')
    .option('--no-token', 'on the loopback only: let every program of this machine in')
    .option('--project <dir>', 'folder whose skills and policy count (default: where it is started)')
    .option(
      '--search-over <n>',
      'with more skills than this, list a search tool instead of all (default: 40)',
    )
    .option('--keep-content', 'store parameters and results in the receipts, not only their digests')
    .addOption(
      new Option('--print-config <client>', 'print the entry for the settings of a client, and stop').choices(
        CLIENTS,
      ),
    )
    .addHelpText('after', example('mcp --print-config claude'))
    .action(async (options: McpFlags) => {
      const { mcp } = await import('./commands/mcp.ts');
      done(await mcp(options));
    });
}

function addTools(program: Command, done: Done): void {
  program
    .command('tools')
    .argument('[skills...]', 'folders of skills, or their ids')
    .description('print skills as tools for the API of a model, from the schema of their parameters')
    .addOption(new Option('--format <format>', 'whose API it is for').choices(FORMATS).makeOptionMandatory())
    .option('--all', 'all known skills')
    .option('--instructions', 'print what the skills tell the model, for the system text, instead')
    .addHelpText('after', example('tools text/word_stats --format openai'))
    .action(async (skills: string[], options: ToolsFlags) => {
      const { tools } = await import('./commands/tools.ts');
      done(await tools(skills, options));
    });
}
