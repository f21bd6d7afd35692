/**
 * `skillcell mcp`: the skills as tools for agents, on standard input and output or over HTTP.
 *
 * @module
 */
import { resolve } from 'node:path';
import { createRuntime, printableLine, SkillError } from '../../index.ts';
import { clientConfig, CONFIG_PLACES, type ClientName } from '../../mcp/client-config.ts';
import { serveOverHttp } from '../../mcp/http/serve-http.ts';
import { SkillServer } from '../../mcp/skill-server.ts';
import { serveOverStdio } from '../../mcp/stdio.ts';
import { interruption } from '../interruption.ts';
import { executeOptions, type PlanFlags } from '../open-runtime.ts';
import { printNote } from '../output.ts';
import { policyInForce } from '../policy-in-force.ts';
import { readText } from '../read-text.ts';

/** A token on a command line could be read by everybody on the machine. */
const TOKEN_VARIABLE = 'SKILLCELL_MCP_TOKEN';
const MAX_PORT = 65_535;

export interface McpFlags extends PlanFlags {
  http?: string;
  host?: string;
  allowHost?: string[];
  tokenFile?: string;
  project?: string;
  searchOver?: string;
  keepContent?: boolean;
  printConfig?: ClientName;
}

export async function mcp(flags: McpFlags): Promise<number> {
  const port = flags.http === undefined ? undefined : wholeNumber('--http', flags.http, MAX_PORT);
  if (flags.project !== undefined) enter(flags.project);
  if (flags.printConfig) return printConfig(flags.printConfig, flags);
  const policy = policyInForce(flags.policy);
  // Nobody is asked here: who writes to our input is a program, also when it looks like a terminal.
  await using runtime = createRuntime({
    caller: 'mcp',
    ...(policy ? { policy } : {}),
    audit: { keepContent: flags.keepContent ?? false },
  });
  await using skills = new SkillServer({
    runtime,
    execute: executeOptions(flags),
    ...(flags.searchOver === undefined
      ? {}
      : { searchOver: wholeNumber('--search-over', flags.searchOver, Number.MAX_SAFE_INTEGER) }),
    onNote,
  });
  if (port === undefined) await serveOverStdio(skills, { signal: interruption(), onNote });
  else await listen(skills, port, flags);
  return 0;
}

async function listen(skills: SkillServer, port: number, flags: McpFlags): Promise<void> {
  await using service = await serveOverHttp(skills, {
    port,
    ...(flags.host === undefined ? {} : { host: flags.host }),
    token: tokenOf(flags),
    allowedHosts: flags.allowHost ?? [],
    onNote,
  });
  printNote(`Listening on ${service.url}`);
  const { promise, resolve: stop } = Promise.withResolvers<void>();
  interruption().addEventListener('abort', () => stop(), { once: true });
  await promise;
}

function tokenOf({ tokenFile }: McpFlags): string | undefined {
  if (tokenFile !== undefined) return readText(tokenFile, 'token file').trim();
  return process.env[TOKEN_VARIABLE];
}

function printConfig(client: ClientName, flags: McpFlags): number {
  printNote(`For ${CONFIG_PLACES[client]}:`);
  const needsToken = tokenOf(flags) !== undefined;
  const url =
    flags.http === undefined
      ? {}
      : { url: `http://${flags.host ?? '127.0.0.1'}:${flags.http}/mcp`, needsToken };
  process.stdout.write(
    `${JSON.stringify(clientConfig(client, { args: argumentsFor(flags), ...url }), null, 2)}\n`,
  );
  return 0;
}

/** The same decisions again, with paths that hold wherever the client starts it. */
function argumentsFor(flags: McpFlags): string[] {
  const { policy, workspace, execution, timeout, memory, searchOver } = flags;
  const given: [string, string | undefined][] = [
    ['--project', process.cwd()],
    ['--policy', policy === undefined ? undefined : resolve(policy)],
    ['--workspace', workspace === undefined ? undefined : resolve(workspace)],
    ['--execution', execution],
    ['--timeout', timeout],
    ['--memory', memory],
    ['--search-over', searchOver],
  ];
  const switches: [string, boolean | undefined][] = [
    ['--isolated', flags.isolated],
    ['--trust-remote-code', flags.trustRemoteCode],
    ['--keep-content', flags.keepContent],
  ];
  return [
    'mcp',
    ...given.flatMap(([name, value]) => (value === undefined ? [] : [name, value])),
    ...(flags.env ?? []).flatMap((name) => ['--env', name]),
    ...switches.flatMap(([name, isOn]) => (isOn ? [name] : [])),
  ];
}

function enter(folder: string): void {
  try {
    process.chdir(folder);
  } catch (cause) {
    throw new SkillError('usage', `Cannot use ${JSON.stringify(folder)} as the project`, {
      fix: 'Give an existing folder.',
      cause,
    });
  }
}

function wholeNumber(name: string, text: string, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= most) return number;
  throw new SkillError('usage', `${name} "${text}" is no whole number from 0 to ${most}`, {
    fix: `Give a number, such as ${name} ${name === '--http' ? '8765' : '40'}.`,
  });
}

function onNote(text: string): void {
  printNote(printableLine(text));
}
