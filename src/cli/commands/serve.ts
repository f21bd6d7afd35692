/**
 * `skillcell serve`: the HTTP service and its console.
 *
 * @module
 */
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { AccessLog } from '../../http/access-log.ts';
import { makeToken } from '../../http/access-file.ts';
import { startService, type RunningService } from '../../http/server.ts';
import {
  LiveTenants,
  type LivePolicy,
  type Runtime,
  SkillError,
  createRuntime,
  defaultHome,
  filesOf,
  isLoopback,
  parseDuration,
  parseSize,
  secretFiles,
  shadowWarnings,
  toSkillError,
} from '../../inside.ts';
import { printLine, printNote, printWarning } from '../output.ts';
import { followPolicy, onHangUp } from '../follow-policy.ts';
import { STOP_SIGNALS } from '../interruption.ts';
import { surviveFaults } from '../last-resort.ts';
import { checkOffer, offerOptions, serviceOptions, type OfferFlags } from '../open-runtime.ts';
import { assertNoCluster, joinCluster, noPrograms } from '../open-cluster.ts';
import type { ClusterFlags } from '../shared-options.ts';
import { writeSecret } from '../token-file.ts';
import { accessFileOf, tokensCreate } from './tokens.ts';

const MAX_PORT = 65_535;
/** Every request checks the file of tenants itself; this is only how soon an idle service reports a change. */
const LOOK_MS = 1000;

export interface ServeFlags extends OfferFlags, ClusterFlags {
  clusterPool?: string[];
  clusterWait?: string;
  port: string;
  host: string;
  allowHost?: string[];
  access?: string;
  accessLog?: string;
  newToken?: string;
  scopes: string;
  tenant: string;
  expires?: string;
  drain: string;
  maxBody: string;
  workspace?: string;
  env?: string[];
  policy?: string;
  tenants?: string;
  keepContent?: boolean;
  programs?: boolean;
}

export async function serve(flags: ServeFlags): Promise<number> {
  const accessFile = accessFileOf(flags);
  if (flags.newToken !== undefined) return tokensCreate(flags.newToken, flags);
  assertNoCluster(flags);
  assertFits(flags);
  using policy = followPolicy(flags.policy);
  const faults = surviveFaults();
  keepHeapSmall();
  // Never asks for approval: HTTP requests do not come from a person at a terminal.
  await using runtime = createRuntime({
    caller: 'http',
    offer: offerOptions(flags),
    ...serviceOptions(flags, () => policy.live.current()),
  });
  runtime.assertOffer();
  openReceipts(runtime);
  // For the person at this terminal, and only if just this machine can connect.
  const consoleToken = isLoopback(flags.host)
    ? makeToken({ name: 'console', tenant: 'local', scopes: ['admin'] })
    : undefined;
  const cluster = flags.cluster === undefined ? undefined : await joinCluster(flags, runtime);
  const onNote = (text: string): void => printNote(text);
  const accessLog = flags.accessLog === undefined ? undefined : new AccessLog(flags.accessLog, onNote);
  const tenants =
    flags.tenants === undefined
      ? undefined
      : openTenants(flags.tenants, policy.live, [accessFile, ...placesOf(flags)]);
  const looking = tenants && setInterval(() => tenants.follow(), LOOK_MS).unref();
  const running = await startService({
    runtime,
    ...(tenants ? { tenants } : {}),
    ...(cluster ? { elsewhere: cluster } : {}),
    faults,
    policyStatus: () => policy.live.status,
    programs: flags.programs ?? false,
    accessFile,
    onNote,
    ...(accessLog ? { accessLog } : {}),
    extraTokens: consoleToken ? [consoleToken.entry] : [],
    host: flags.host,
    port: portOf(flags.port),
    hostNames: flags.allowHost ?? [],
    drainMs: parseDuration(flags.drain),
    maxBodyBytes: parseSize(flags.maxBody),
    ...(flags.workspace === undefined ? {} : { workspace: flags.workspace }),
  });
  checkOffer(runtime, flags);
  for (const location of runtime.offered()) shadowWarnings(location).forEach(printWarning);
  printLine(`Listening on ${running.url}`);
  const tokenFile = consoleToken && announceToken(running.url, consoleToken.secret);
  running.service.readAhead().catch((error: unknown) => printNote(`warning: ${toSkillError(error).message}`));
  await untilStopped(running, () => {
    accessLog?.reopen();
    policy.live.reload();
    tenants?.reload();
  });
  clearInterval(looking);
  await accessLog?.close();
  await cluster?.close();
  if (tokenFile !== undefined) rmSync(tokenFile, { force: true });
  return 0;
}

/** In a cluster, a workspace belongs to the workers. */
function assertFits({ cluster, workspace, env, programs }: ServeFlags): void {
  if (cluster !== undefined && programs) throw noPrograms();
  const useless = workspace === undefined ? env && '--env' : '--workspace';
  if (cluster === undefined || useless === undefined) return;
  throw new SkillError('usage', `${useless} has no effect with --cluster, because calls run on workers`, {
    fix: `Pass ${useless} to the workers.`,
  });
}

/** Throws if the file cannot be used: a service never starts with broken tenants. */
function openTenants(file: string, policy: LivePolicy, places: readonly string[]): LiveTenants {
  const own = [...secretFiles(policy.current()), ...filesOf(policy.current()), ...places];
  return new LiveTenants({
    file: resolve(file),
    policy: () => policy.current(),
    own,
    onNote: (text) => printNote(text),
  });
}

/** Files and folders of the operator that the flags name. */
function placesOf({ workspace, accessLog }: ServeFlags): string[] {
  const named = [workspace, accessLog === '-' ? undefined : accessLog];
  return named.flatMap((place) => (place === undefined ? [] : [resolve(place)]));
}

/** Opening the log closes receipts that a killed service left open. A full disk is only a warning: it may have room later. */
function openReceipts(runtime: Runtime): void {
  try {
    runtime.assertReceipts();
  } catch (thrown) {
    const { code, message, fix, detail } = toSkillError(thrown);
    if (code !== 'skill_unavailable' || detail['receipts'] === undefined) throw thrown;
    printNote(`warning: ${message}\nfix: ${fix}`);
  }
}

/** Prints the token only on a terminal; elsewhere it would end up in a log, so it goes into a private file. */
function announceToken(url: string, secret: string): string | undefined {
  if (process.stderr.isTTY) {
    // After the #, so that the token reaches no server and no server log.
    printNote(`Console: ${url}/#token=${secret} (admin token, valid until this process ends)`);
    return undefined;
  }
  const file = join(defaultHome(), `console-token.${process.pid}`);
  try {
    writeSecret(file, secret);
    printNote(`Console: ${url}/ (admin token in ${file}, valid until this process ends)`);
  } catch (error) {
    // A full disk must not keep the service from serving clients that have tokens.
    printNote(`warning: Cannot write a token for the console: ${toSkillError(error).message}`);
  }
  return file;
}

/** The first signal lets running calls finish, the second cancels them. */
async function untilStopped(running: RunningService, reload: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return running.service.live.cancelAll();
    isStopping = true;
    printNote('Stopping: new calls are refused, running calls may finish. A second signal cancels them.');
    running.close().then(resolve, resolve);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, stop);
  onHangUp({ reload, stop });
  await promise;
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= MAX_PORT) return port;
  throw new SkillError('usage', `--port "${text}" is not a valid port`, {
    fix: 'Pass a number from 0 to 65535.',
  });
}

/**
 * By default, V8 lets the heap of a busy service grow to several times its live size before it collects. Every process that
 * the service starts is at first a copy of it, so a large heap also makes starting cells slow.
 */
function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=50');
}
