/**
 * `skillcell mcp`: serves the skills as MCP tools, on standard input and output or over HTTP.
 *
 * @module
 */
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import {
  SkillError,
  createRuntime,
  defaultHome,
  isLoopback,
  printableLine,
  shellWord,
} from '../../inside.ts';
import { clientConfigText } from '../../mcp/client-config.ts';
import { serveOverHttp } from '../../mcp/http/serve-http.ts';
import { SkillServer } from '../../mcp/skill-server.ts';
import { serveOverStdio } from '../../mcp/stdio.ts';
import { MCP_CLIENT_ROWS, type McpClientName } from '../../vocabulary/mcp-clients.ts';
import { followPolicy, onHangUp } from '../follow-policy.ts';
import { interruption, STOP_SIGNALS } from '../interruption.ts';
import {
  checkOffer,
  executeOptions,
  offerOptions,
  type OfferFlags,
  type PlanFlags,
} from '../open-runtime.ts';
import { assertNoCluster, joinCluster, noPrograms, type FrontFlags } from '../open-cluster.ts';
import { printNote } from '../output.ts';
import { surviveFaults } from '../last-resort.ts';
import { readText } from '../read-text.ts';
import { readOrCreateToken } from '../token-file.ts';

/** A variable, because every user of the machine can read command lines. */
const TOKEN_VARIABLE = 'SKILLCELL_MCP_TOKEN';
const MAX_PORT = 65_535;
const MAX_UNREAD_NOTES = 64 * 1024;

export interface McpFlags extends PlanFlags, OfferFlags, FrontFlags {
  http?: string;
  host?: string;
  allowHost?: string[];
  tokenFile?: string;
  /** False with --no-token. */
  token?: boolean;
  project?: string;
  searchOver?: string;
  keepContent?: boolean;
  printConfig?: McpClientName;
  programs?: boolean;
}

export async function mcp(flags: McpFlags): Promise<number> {
  const port = flags.http === undefined ? undefined : wholeNumber('--http', flags.http, MAX_PORT);
  if (flags.project !== undefined) enter(flags.project, flags);
  if (flags.printConfig) return printConfig(flags.printConfig, flags);
  assertNoCluster(flags);
  if (flags.cluster !== undefined && flags.programs) throw noPrograms();
  using policy = followPolicy(flags.policy);
  surviveFaults();
  // Never asks for approval: the input comes from a program, even if it looks like a terminal.
  await using runtime = createRuntime({
    caller: 'mcp',
    userHome: homedir(),
    offer: offerOptions(flags),
    policy: () => policy.live.current(),
    audit: { keepContent: flags.keepContent ?? false },
  });
  checkOffer(runtime, flags);
  const cluster = flags.cluster === undefined ? undefined : await joinCluster(flags, runtime);
  await using skills = new SkillServer({
    runtime,
    execute: executeOptions(flags),
    ...(cluster ? { elsewhere: cluster } : {}),
    programs: flags.programs ?? false,
    ...(flags.searchOver === undefined
      ? {}
      : { searchOver: wholeNumber('--search-over', flags.searchOver, Number.MAX_SAFE_INTEGER) }),
    onNote,
  });
  if (port === undefined) await serveOverStdio(skills, { signal: interruption(), onNote });
  else await listen(skills, port, { ...flags, reload: () => policy.live.reload() });
  await skills.close();
  await cluster?.close();
  return 0;
}

async function listen(
  skills: SkillServer,
  port: number,
  flags: McpFlags & { reload: () => void },
): Promise<void> {
  const { token, file } = tokenOf(flags);
  await using service = await serveOverHttp(skills, {
    port,
    ...(flags.host === undefined ? {} : { host: flags.host }),
    token,
    allowedHosts: flags.allowHost ?? [],
    onNote,
  });
  printNote(`Listening on ${service.url}`);
  if (file !== undefined) printNote(`Clients need the token in ${file}; --print-config includes it.`);
  const { promise, resolve: stop } = Promise.withResolvers<void>();
  onHangUp({ reload: flags.reload, stop });
  interruption(STOP_SIGNALS).addEventListener('abort', () => stop(), { once: true });
  await promise;
}

interface ChosenToken {
  token: string | false | undefined;
  /** Set if we generated the token. */
  file?: string;
}

/** The operator's token, or on loopback one that we generate once and keep. */
function tokenOf({ tokenFile, host = '127.0.0.1', token: wantsToken }: McpFlags): ChosenToken {
  const given =
    tokenFile === undefined ? process.env[TOKEN_VARIABLE] : readText(tokenFile, 'token file').trim();
  if (given !== undefined) return { token: given };
  if (wantsToken === false) return { token: false };
  if (!isLoopback(host)) return { token: undefined };
  const file = join(defaultHome(), 'mcp-token');
  return { token: readOrCreateToken(file), file };
}

function printConfig(client: McpClientName, flags: McpFlags): number {
  printNote(`For ${MCP_CLIENT_ROWS[client].place}:`);
  const url = flags.http === undefined ? {} : httpEndpoint(flags.http, flags);
  process.stdout.write(clientConfigText(client, { args: argumentsFor(flags), ...url }));
  return 0;
}

/** Includes the token only if we generated it; otherwise the operator fills it in. */
function httpEndpoint(port: string, flags: McpFlags): { url: string; token?: string } {
  const { token, file } = tokenOf(flags);
  const url = `http://${flags.host ?? '127.0.0.1'}:${port}/mcp`;
  if (!token) return { url };
  return { url, token: file === undefined ? 'YOUR-TOKEN' : token };
}

/** The same options again, with absolute paths, because the client may start it from any folder. */
function argumentsFor(flags: McpFlags): string[] {
  const { policy, workspace, execution, timeout, memory, searchOver } = flags;
  const values: [string, string | undefined][] = [
    ['--project', process.cwd()],
    ['--policy', policy === undefined ? undefined : resolve(policy)],
    ['--workspace', workspace === undefined ? undefined : resolve(workspace)],
    ['--execution', execution],
    ['--timeout', timeout],
    ['--memory', memory],
    ['--search-over', searchOver],
    ...clusterArguments(flags),
  ];
  const switches: [string, boolean | undefined][] = [
    ['--bundled', flags.bundled],
    ['--isolated', flags.isolated],
    ['--trust-remote-code', flags.trustRemoteCode],
    ['--keep-content', flags.keepContent],
    ['--programs', flags.programs],
  ];
  return [
    'mcp',
    ...values.flatMap(([name, value]) => (value === undefined ? [] : [name, value])),
    ...(flags.env ?? []).flatMap((name) => ['--env', name]),
    ...(flags.skills ?? []).flatMap((glob) => ['--skills', glob]),
    ...switches.flatMap(([name, isOn]) => (isOn ? [name] : [])),
  ];
}

function clusterArguments(flags: McpFlags): [string, string | undefined][] {
  const { cluster, clusterKey, clusterCa, clusterCert, clusterCertKey, name, clusterWait } = flags;
  const file = (path: string | undefined): string | undefined =>
    path === undefined ? undefined : resolve(path);
  return [
    ['--cluster', cluster],
    ['--cluster-key', file(clusterKey)],
    ['--cluster-ca', file(clusterCa)],
    ['--cluster-cert', file(clusterCert)],
    ['--cluster-cert-key', file(clusterCertKey)],
    ['--name', name],
    ['--cluster-wait', clusterWait],
    ...(flags.clusterPool ?? []).map((pool): [string, string] => ['--cluster-pool', pool]),
  ];
}

function enter(folder: string, flags: McpFlags): void {
  try {
    if (realpathSync(folder) !== process.cwd()) refuseRelativePaths(folder, flags);
    process.chdir(folder);
  } catch (cause) {
    if (cause instanceof SkillError) throw cause;
    throw new SkillError('usage', `Cannot use ${JSON.stringify(folder)} as the project`, {
      fix: 'Pass an existing folder with --project.',
      cause,
    });
  }
}

/** These files decide over grants and access: a cloned project must not be able to substitute its own. */
function refuseRelativePaths(project: string, { policy, tokenFile }: McpFlags): void {
  const named: [string, string | undefined][] = [
    ['--policy', policy],
    ['--token-file', tokenFile],
  ];
  for (const [option, file] of named)
    if (file !== undefined && !isAbsolute(file))
      throw new SkillError(
        'usage',
        `${option} ${JSON.stringify(file)} is ambiguous: it could be relative to the project ${JSON.stringify(project)} or to this folder`,
        { fix: `Pass the absolute path: ${option} ${shellWord(resolve(file))}`, detail: { option, file } },
      );
}

function wholeNumber(name: string, text: string, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= most) return number;
  throw new SkillError('usage', `${name} "${text}" is not a whole number from 0 to ${most}`, {
    fix: `Pass a number, such as ${name} ${name === '--http' ? '8765' : '40'}.`,
  });
}

/** Drops notes that are not read: a client that sends garbage and ignores our stderr must not fill the memory. */
function onNote(text: string): void {
  if (process.stderr.writableLength > MAX_UNREAD_NOTES) return;
  printNote(printableLine(text));
}
