/**
 * `skillcell mcp`: the skills as tools for agents, on standard input and output or over HTTP.
 *
 * @module
 */
import { realpathSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { createRuntime, defaultHome, isLoopback, printableLine, shellWord, SkillError } from '../../index.ts';
import { clientConfig, CONFIG_PLACES, type ClientName } from '../../mcp/client-config.ts';
import { serveOverHttp } from '../../mcp/http/serve-http.ts';
import { SkillServer } from '../../mcp/skill-server.ts';
import { serveOverStdio } from '../../mcp/stdio.ts';
import { interruption } from '../interruption.ts';
import { executeOptions, type PlanFlags } from '../open-runtime.ts';
import { printNote } from '../output.ts';
import { surviveFaults } from '../last-resort.ts';
import { policyInForce } from '../policy-in-force.ts';
import { readText } from '../read-text.ts';
import { keptToken } from '../token-file.ts';

/** A token on a command line could be read by everybody on the machine. */
const TOKEN_VARIABLE = 'SKILLCELL_MCP_TOKEN';
const MAX_PORT = 65_535;

export interface McpFlags extends PlanFlags {
  http?: string;
  host?: string;
  allowHost?: string[];
  tokenFile?: string;
  /** False with --no-token. */
  token?: boolean;
  project?: string;
  searchOver?: string;
  keepContent?: boolean;
  printConfig?: ClientName;
}

export async function mcp(flags: McpFlags): Promise<number> {
  const port = flags.http === undefined ? undefined : wholeNumber('--http', flags.http, MAX_PORT);
  if (flags.project !== undefined) enter(flags.project, flags);
  if (flags.printConfig) return printConfig(flags.printConfig, flags);
  const policy = policyInForce(flags.policy);
  surviveFaults();
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
  const { token, file } = tokenOf(flags);
  await using service = await serveOverHttp(skills, {
    port,
    ...(flags.host === undefined ? {} : { host: flags.host }),
    token,
    allowedHosts: flags.allowHost ?? [],
    onNote,
  });
  printNote(`Listening on ${service.url}`);
  if (file !== undefined) printNote(`Clients need the token in ${file}; --print-config has it.`);
  const { promise, resolve: stop } = Promise.withResolvers<void>();
  interruption().addEventListener('abort', () => stop(), { once: true });
  await promise;
}

interface ChosenToken {
  token: string | false | undefined;
  /** Where a token of our own making lies. */
  file?: string;
}

/** Given by the operator, or one that is made once and kept; an address that others can reach needs a given one. */
function tokenOf({ tokenFile, host = '127.0.0.1', token: wantsToken }: McpFlags): ChosenToken {
  const given =
    tokenFile === undefined ? process.env[TOKEN_VARIABLE] : readText(tokenFile, 'token file').trim();
  if (given !== undefined) return { token: given };
  if (wantsToken === false) return { token: false };
  if (!isLoopback(host)) return { token: undefined };
  const file = join(defaultHome(), 'mcp-token');
  return { token: keptToken(file), file };
}

function printConfig(client: ClientName, flags: McpFlags): number {
  printNote(`For ${CONFIG_PLACES[client]}:`);
  const url = flags.http === undefined ? {} : reachedOver(flags.http, flags);
  process.stdout.write(
    `${JSON.stringify(clientConfig(client, { args: argumentsFor(flags), ...url }), null, 2)}\n`,
  );
  return 0;
}

/** A token that we made is in the entry; one that was given is for the operator to put in. */
function reachedOver(port: string, flags: McpFlags): { url: string; token?: string } {
  const { token, file } = tokenOf(flags);
  const url = `http://${flags.host ?? '127.0.0.1'}:${port}/mcp`;
  if (!token) return { url };
  return { url, token: file === undefined ? 'YOUR-TOKEN' : token };
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

function enter(folder: string, flags: McpFlags): void {
  try {
    if (realpathSync(folder) !== process.cwd()) refuseGuessing(folder, flags);
    process.chdir(folder);
  } catch (cause) {
    if (cause instanceof SkillError) throw cause;
    throw new SkillError('usage', `Cannot use ${JSON.stringify(folder)} as the project`, {
      fix: 'Give an existing folder.',
      cause,
    });
  }
}

/** Files that decide: a project that somebody cloned must not be able to put its own in their place. */
function refuseGuessing(project: string, { policy, tokenFile }: McpFlags): void {
  const named: [string, string | undefined][] = [
    ['--policy', policy],
    ['--token-file', tokenFile],
  ];
  for (const [option, file] of named)
    if (file !== undefined && !isAbsolute(file))
      throw new SkillError(
        'usage',
        `${option} ${JSON.stringify(file)} could be a file of the project ${JSON.stringify(project)}, or one of this folder`,
        { fix: `Give its whole path: ${option} ${shellWord(resolve(file))}`, detail: { option, file } },
      );
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
