/**
 * `skillcell serve`: the HTTP service and its console.
 *
 * @module
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { addToken, makeToken, SCOPES, type Scope } from '../../http/access-file.ts';
import { startService, type RunningService } from '../../http/server.ts';
import {
  createRuntime,
  defaultHome,
  isLoopback,
  parseDuration,
  parseSize,
  SkillError,
  toSkillError,
  type Runtime,
} from '../../index.ts';
import { printLine, printNote } from '../output.ts';
import { surviveFaults } from '../last-resort.ts';
import { variableNames } from '../open-runtime.ts';
import { policyInForce } from '../policy-in-force.ts';
import { writeSecret } from '../token-file.ts';

const MAX_PORT = 65_535;
const MAX_DAYS = 36_500;
/** Of `subprocess` cells: one at this level gets a thirtieth of the CPU time of the host, if both want all of it. */
const NICENESS = 15;

export interface ServeFlags {
  port: string;
  host: string;
  allowHost?: string[];
  access?: string;
  newToken?: string;
  scopes: string;
  tenant: string;
  expires?: string;
  drain: string;
  maxBody: string;
  workspace?: string;
  env?: string[];
  policy?: string;
  keepContent?: boolean;
}

export async function serve(flags: ServeFlags): Promise<number> {
  const accessFile = flags.access ?? join(defaultHome(), 'access.json');
  if (flags.newToken !== undefined) return newToken(accessFile, flags.newToken, flags);
  const policy = policyInForce(flags.policy);
  const faults = surviveFaults();
  keepHeapSmall();
  // Nobody is asked here: what comes in over HTTP is no person at a terminal.
  await using runtime = createRuntime({
    caller: 'http',
    // Who may run is for the dispatcher to say: it knows whose turn it is, the pool takes them as they come.
    pool: { maxConcurrent: Number.POSITIVE_INFINITY },
    // It has to answer all the others while some skill uses every core.
    jail: { niceness: NICENESS },
    ...(policy ? { policy } : {}),
    ...(flags.env ? { allowEnv: variableNames(flags.env) } : {}),
    audit: { keepContent: flags.keepContent ?? false },
  });
  openReceipts(runtime);
  // For whoever sees this screen, and for this machine alone.
  const own = isLoopback(flags.host)
    ? makeToken({ name: 'console', tenant: 'local', scopes: ['admin'] })
    : undefined;
  const running = await startService({
    runtime,
    faults,
    accessFile,
    extraTokens: own ? [own.entry] : [],
    host: flags.host,
    port: portOf(flags.port),
    hostNames: flags.allowHost ?? [],
    drainMs: parseDuration(flags.drain),
    maxBodyBytes: parseSize(flags.maxBody),
    ...(flags.workspace === undefined ? {} : { workspace: flags.workspace }),
  });
  printLine(`Listening on ${running.url}`);
  // Behind the #, so that no server and no log of one gets to see it.
  const tokenFile = own && tellToken(running.url, own.secret);
  running.service.readAhead().catch((error: unknown) => printNote(`warning: ${toSkillError(error).message}`));
  await untilStopped(running);
  if (tokenFile !== undefined) rmSync(tokenFile, { force: true });
  return 0;
}

/** Opening the log closes what a killed service left open. What is full now may have room when calls come. */
function openReceipts(runtime: Runtime): void {
  try {
    runtime.assertReceipts();
  } catch (thrown) {
    const { code, message, fix, detail } = toSkillError(thrown);
    if (code !== 'skill_unavailable' || detail['receipts'] === undefined) throw thrown;
    printNote(`warning: ${message}\nfix: ${fix}`);
  }
}

/** On a terminal somebody sees it; what goes anywhere else ends up in a log, so there it goes into a file of its own. */
function tellToken(url: string, secret: string): string | undefined {
  if (process.stderr.isTTY) {
    printNote(`Console: ${url}/#token=${secret} (an admin's token, until this process ends)`);
    return undefined;
  }
  const file = join(defaultHome(), `console-token.${process.pid}`);
  try {
    writeSecret(file, secret);
    printNote(`Console: ${url}/ (an admin's token, until this process ends, is in ${file})`);
  } catch (error) {
    // A full disk is no reason not to serve those who have tokens.
    printNote(`warning: No token for the console could be written: ${toSkillError(error).message}`);
  }
  return file;
}

function newToken(file: string, name: string, flags: ServeFlags): number {
  const { expires } = flags;
  const token = addToken(file, {
    name,
    tenant: flags.tenant,
    scopes: scopesOf(flags.scopes),
    ...(expires === undefined ? {} : { expiresAt: inDays(expires) }),
  });
  printLine(token);
  printNote(`Token "${name}" of tenant "${flags.tenant}" (${flags.scopes}). It is not shown again.`);
  return 0;
}

/** The first signal lets running calls finish, the second ends them. */
async function untilStopped(running: RunningService): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return running.service.live.cancelAll();
    isStopping = true;
    printNote('Stopping: no more calls are taken, those that run may finish.');
    running.close().then(resolve, resolve);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  await promise;
}

function scopesOf(text: string): Scope[] {
  return text.split(',').map((word) => {
    const scope = SCOPES.find((one) => one === word.trim());
    if (scope) return scope;
    throw new SkillError('usage', `--scopes "${text}": there is no scope "${word.trim()}"`, {
      fix: `Give some of ${SCOPES.join(', ')}, separated by commas.`,
    });
  });
}

function inDays(text: string): Date {
  const days = Number(text);
  if (days > 0 && days <= MAX_DAYS) return new Date(Date.now() + days * 86_400_000);
  throw new SkillError('usage', `--expires "${text}" is no number of days`, {
    fix: 'Give a number such as 30.',
  });
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= MAX_PORT) return port;
  throw new SkillError('usage', `--port "${text}" is no port`, { fix: 'Give a number from 0 to 65535.' });
}

/**
 * Left to itself V8 lets the heap of a busy service grow to several times of what is in use before it looks. Every process
 * that the service starts is a copy of it at first, so what is large is slow, too.
 */
function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=50');
}
