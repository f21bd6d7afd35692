/**
 * Commands that expose skills to agents.
 *
 * @module
 */
import { Option } from 'commander';
import { TYPING_LANGUAGE_NAMES } from '../vocabulary/typing-languages.ts';
import { MCP_CLIENT_NAMES } from '../vocabulary/mcp-clients.ts';
import { HOOK_AGENT_NAMES, HOOK_ANSWER_NAMES } from '../vocabulary/hook-answers.ts';
import { TOOL_FORMAT_NAMES } from '../vocabulary/command-choices.ts';
import {
  define,
  withClusterOptions,
  withOfferOptions,
  withPlanOptions,
  withPoolOptions,
  type CliCommand,
} from './shared-options.ts';

export function addAgents(program: CliCommand): void {
  addTools(program);
  addHook(program);
  define(
    program,
    'mcp',
    'serve the skills as MCP tools (Model Context Protocol) on standard input and output',
  )
    .use(withPlanOptions, withOfferOptions, withPoolOptions, withClusterOptions)
    .option('--http <port>', 'serve over HTTP instead, at http://127.0.0.1:<port>/mcp')
    .option('--host <address>', 'address to listen on; a token is required unless it is a loopback address')
    .repeatable('--allow-host <name>', 'host name that clients may use for this machine')
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
    .choice('--print-config <client>', "print the entry for a client's settings, and exit", MCP_CLIENT_NAMES)
    .option('--programs', 'also offer a tool that runs programs, which call the skills (docs/programs.md)')
    .example('mcp --print-config claude')
    .runs(async () => (await import('./commands/mcp.ts')).mcp);
}

function addTools(program: CliCommand): void {
  define(program, 'tools', "print skills as tool definitions for a model's API, or as typings for programs")
    .use(withOfferOptions)
    .argument('[skills...]', 'folders or ids of skills')
    .addOption(
      new Option('--format <format>', 'API or programming language to print them for')
        .choices([...TOOL_FORMAT_NAMES, ...TYPING_LANGUAGE_NAMES])
        .makeOptionMandatory(),
    )
    .option('--all', 'print all skills of this project and all installed ones')
    .option('--instructions', 'print the instructions of the skills instead, for the system prompt')
    .json('print JSON (the default)')
    .example('tools text/word_stats --format openai')
    .runs(async () => (await import('./commands/tools.ts')).tools);
}

function addHook(program: CliCommand): void {
  define(
    program,
    'hook',
    "rewrite an agent's shell command so that scripts of skills run in the sandbox (JSON in, JSON out)",
  )
    .choice(
      '--answer <answer>',
      'for a rewritten command: ask the user, leave it to the rules of the agent, or deny it and name the command to run (default: ask)',
      HOOK_ANSWER_NAMES,
    )
    .choice('--print-config <agent>', "print the entry for an agent's settings, and exit", HOOK_AGENT_NAMES)
    .example('hook --print-config claude')
    .runs(async () => (await import('./commands/hook.ts')).hook);
}
