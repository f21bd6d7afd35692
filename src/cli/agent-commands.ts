/**
 * Commands that expose skills to agents.
 *
 * @module
 */
import { Option, type Command } from 'commander';
import { TYPING_LANGUAGE_NAMES } from '../vocabulary/typing-languages.ts';
import { MCP_CLIENT_NAMES } from '../vocabulary/mcp-clients.ts';
import { HOOK_AGENT_NAMES, HOOK_ANSWER_NAMES } from '../vocabulary/hook-answers.ts';
import type { HookFlags } from './commands/hook.ts';
import type { McpFlags } from './commands/mcp.ts';
import { TOOL_FORMAT_NAMES } from '../vocabulary/command-choices.ts';
import type { ToolsFlags } from './commands/tools.ts';
import {
  collect,
  example,
  withClusterOptions,
  withOfferOptions,
  withPlanOptions,
  withPoolOptions,
  type Done,
} from './shared-options.ts';

export function addAgents(program: Command, done: Done): void {
  addTools(program, done);
  addHook(program, done);
  withClusterOptions(withPoolOptions(withOfferOptions(withPlanOptions(program.command('mcp')))))
    .description('serve the skills as MCP tools (Model Context Protocol) on standard input and output')
    .option('--http <port>', 'serve over HTTP instead, at http://127.0.0.1:<port>/mcp')
    .option('--host <address>', 'address to listen on; a token is required unless it is a loopback address')
    .option('--allow-host <name>', 'host name that clients may use for this machine; repeatable', collect)
    .option('--token-file <file>', 'file with the token that clients must send (or set SKILLCELL_MCP_TOKEN)')
    .option(
      '--no-token',
      'require no token, so that every program on this machine can connect; loopback only',
    )
    .option('--project <dir>', 'folder whose skills and policy to use (default: current folder)')
    .option(
      '--search-over <n>',
      'list a search tool instead of every skill if there are more than this (default: 40)',
    )
    .option('--keep-content', 'store parameters and results in the receipts instead of only their digests')
    .addOption(
      new Option('--print-config <client>', "print the entry for a client's settings, and exit").choices(
        MCP_CLIENT_NAMES,
      ),
    )
    .option('--programs', 'also offer a tool that runs programs, which call the skills (docs/programs.md)')
    .addHelpText('after', example('mcp --print-config claude'))
    .action(async (options: McpFlags) => {
      const { mcp } = await import('./commands/mcp.ts');
      done(await mcp(options));
    });
}

function addTools(program: Command, done: Done): void {
  withOfferOptions(program.command('tools'))
    .argument('[skills...]', 'folders or ids of skills')
    .description("print skills as tool definitions for a model's API, or as typings for programs")
    .addOption(
      new Option('--format <format>', 'API or programming language to print them for')
        .choices([...TOOL_FORMAT_NAMES, ...TYPING_LANGUAGE_NAMES])
        .makeOptionMandatory(),
    )
    .option('--all', 'print all skills of this project and all installed ones')
    .option('--instructions', 'print the instructions of the skills instead, for the system prompt')
    .option('--json', 'print JSON (the default)')
    .addHelpText('after', example('tools text/word_stats --format openai'))
    .action(async (skills: string[], options: ToolsFlags) => {
      const { tools } = await import('./commands/tools.ts');
      done(await tools(skills, options));
    });
}

function addHook(program: Command, done: Done): void {
  program
    .command('hook')
    .description(
      "rewrite an agent's shell command so that scripts of skills run in the sandbox (JSON in, JSON out)",
    )
    .addOption(
      new Option(
        '--answer <answer>',
        'for a rewritten command: ask the user, leave it to the rules of the agent, or deny it and name the command to run (default: ask)',
      ).choices(HOOK_ANSWER_NAMES),
    )
    .addOption(
      new Option('--print-config <agent>', "print the entry for an agent's settings, and exit").choices(
        HOOK_AGENT_NAMES,
      ),
    )
    .addHelpText('after', example('hook --print-config claude'))
    .action(async (options: HookFlags) => {
      const { hook } = await import('./commands/hook.ts');
      done(hook(options));
    });
}
