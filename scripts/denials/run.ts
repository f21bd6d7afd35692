/**
 * Runs every act in every column, against real servers on loopback.
 *
 * @module
 */
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { buildBase } from '../../src/build/container/base-image.ts';
import type { Outcome, Success } from '../../src/outcome.ts';
import type { CommandResult } from '../../src/results/command-result.ts';
import { DEFAULT_POLICY } from '../../src/policy/operator.ts';
import { createRuntime, type Runtime } from '../../src/runtime.ts';
import { startDocker } from '../docker-service.ts';
import { ACTS, manifestFor, type Act, type Op, type Place } from './acts.ts';
import { COLUMNS, SHELL_IMAGE, type Column } from './engines.ts';

export interface Cell {
  /** `code capability`, `code limit`, `stopped` for an act that failed without a report, or `n/a`. */
  answer: string;
  /** Why there is no such act, or what happened, as text. */
  why: string;
}

export interface Row {
  act: Act;
  /** By title of the column. */
  cells: Record<string, Cell>;
}

export interface Denials {
  rows: Row[];
  /** What reached the servers although it was not granted. */
  harm: string[];
}

interface Stage {
  folder: string;
  workspace: string;
  place: Place;
}

/** The image of the containers. */
const IMAGE = 'localhost/skillcell-python';

const SKILL_MD = '---\nname: acts\ndescription: Does what no manifest grants.\n---\n';

/** Adds that image to a home. */
export type ProvideImage = (home: string) => Promise<unknown>;

export async function runDenials(provideImage: ProvideImage): Promise<Denials> {
  const { socket, close } = await startDocker();
  try {
    return await runAll(provideImage, socket);
  } finally {
    await close();
  }
}

async function runAll(provideImage: ProvideImage, dockerSocket: string): Promise<Denials> {
  const folder = await mkdtemp('/var/tmp/skillcell-denials-');
  const harm: string[] = [];
  const servers = [await listen(answering(harm)), await listen(noting(harm))];
  try {
    const stage = await furnish(folder, servers.map(portOf));
    const rows: Row[] = ACTS.map((act) => ({ act, cells: {} }));
    const home = join(folder, 'home');
    await provideImage(home);
    await buildBase('python', { home, packages: ['curl'], name: SHELL_IMAGE });
    for (const column of COLUMNS) await fillColumn(rows, column, { ...stage, home, dockerSocket });
    return { rows, harm };
  } finally {
    for (const server of servers) server.close().closeAllConnections();
    await rm(folder, { recursive: true, force: true });
  }
}

async function furnish(folder: string, [port = 0, otherPort = 0]: number[]): Promise<Stage> {
  await chmod(folder, 0o755);
  const [workspace, outsideFile] = [join(folder, 'workspace'), join(folder, 'secret.txt')];
  await mkdir(join(workspace, 'data'), { recursive: true });
  await writeFile(outsideFile, 'outside');
  return { folder, workspace, place: { port, otherPort, outsideFile } };
}

interface Setting extends Stage {
  home: string;
  dockerSocket: string;
}

async function fillColumn(rows: Row[], column: Column, stage: Setting): Promise<void> {
  const { container, ...options } = column.options;
  const lookup = async (): Promise<string[]> => ['127.0.0.1'];
  await using runtime = createRuntime({
    home: stage.home,
    cwd: stage.folder,
    audit: false,
    policy: { ...DEFAULT_POLICY, network: { allowPrivate: ['127.0.0.1'] } },
    network: { lookup },
    env: { HOST_SECRET: 'invented-0123456789' },
    ...options,
    container: { ...container, dockerSocket: stage.dockerSocket },
  });
  for (const { act, cells } of rows) cells[column.title] = await perform(act, column, { ...stage, runtime });
}

async function perform(act: Act, column: Column, stage: Stage & { runtime: Runtime }): Promise<Cell> {
  const op = act.op(stage.place);
  const program = column.program(op);
  if ('none' in program) return { answer: 'n/a', why: program.none };
  // One folder for a source with all acts, and one for each component.
  const isShared = typeof program.content === 'string' && act.limits === undefined;
  const folder = isShared
    ? `${column.mode}_${program.entry.replace('.', '_')}`
    : `${column.engine}${column.isCommand ? `_command_${column.mode}` : ''}_${slugOf(op)}`;
  const bundle = join(stage.folder, folder);
  await mkdir(dirname(join(bundle, program.entry)), { recursive: true });
  if (column.isCommand) await writeFile(join(bundle, 'SKILL.md'), SKILL_MD);
  const { file, declared } = declarationOf(column, program.entry, manifestFor(stage.place, act));
  await writeFile(join(bundle, file), JSON.stringify(declared));
  await writeFile(join(bundle, program.entry), program.content);
  const outcome = await stage.runtime.execute(bundle, program.params, {
    execution: column.mode,
    workspace: stage.workspace,
    reject: false,
    ...(act.timeout === undefined ? {} : { timeout: act.timeout }),
  });
  const cell = judge(outcome, column);
  if (program.unreported === undefined) return cell;
  return cell.answer === 'failed' ? { answer: 'stopped', why: program.unreported } : cell;
}

/** The image of commands is declared beside a SKILL.md: one in a manifest would be a program of its own. */
function declarationOf(
  { mode, isCommand, image = IMAGE }: Column,
  entry: string,
  asked: ReturnType<typeof manifestFor>,
): { file: string; declared: Record<string, unknown> } {
  const container = mode === 'container' ? { container: { image } } : {};
  const { capabilities, limits } = asked;
  if (isCommand && mode === 'container')
    return { file: 'skillcell.yaml', declared: { ...container, capabilities, limits } };
  const execution = mode === 'container' ? 'container' : ['subprocess', 'wasm'];
  const named = { name: 'denials/acts', execution, ...container, ...(isCommand ? {} : { entry }) };
  return { file: 'manifest.yaml', declared: { ...named, ...asked } };
}

function slugOf(op: Op): string {
  return op.op === 'fetch' ? `act_fetch_${op.method.toLowerCase()}` : `act_${op.op}`;
}

function judge(outcome: Outcome, { engine, wall, isCommand }: Column): Cell {
  const ran = outcome.execution;
  if (ran && (ran.engine !== engine || ran.wall !== wall))
    return { answer: 'elsewhere', why: `It ran in ${ran.engine} behind ${ran.wall}.` };
  const denied = outcome.ok && isCommand ? deniedCommand(outcome) : undefined;
  if (denied) return denied;
  if (outcome.ok && isCommand && (outcome.result as CommandResult).exit_code !== 0)
    return { answer: 'failed', why: JSON.stringify(outcome.result).slice(0, 200) };
  if (outcome.ok) return { answer: 'ok', why: JSON.stringify(outcome.result)?.slice(0, 200) ?? '' };
  const { code, detail, message } = outcome.error;
  const what = [detail['capability'], detail['limit']].filter((one) => typeof one === 'string');
  return { answer: [code, ...what].join(' '), why: message };
}

/** The end of a command is a result, and its denials are listed beside it. */
function deniedCommand({ result, capabilities }: Success): Cell | undefined {
  const { exit_code } = result as CommandResult;
  const denial = capabilities.denied.at(-1);
  if (exit_code === 0 || !denial) return undefined;
  return { answer: `capability_denied ${denial.capability}`, why: `${denial.asked}: ${denial.declared}` };
}

/** The part below /open/ is granted; nothing else should arrive. */
function answering(harm: string[]): Server {
  return createServer((request, response) => {
    const target = `${request.method} ${request.url}`;
    if (!target.startsWith('GET /open/')) harm.push(target);
    if (request.url === '/open/redirect')
      response.writeHead(302, { location: 'http://other.test/open/page' });
    response.end('page');
  });
}

function noting(harm: string[]): Server {
  return createServer((request, response) => {
    harm.push(`${request.method} ${request.url} at another port`);
    response.end('page');
  });
}

async function listen(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
