/**
 * The host around one attack: secrets, a workspace, and a neighbour with sockets, shared memory and an open file.
 * Every attack gets its own setting, so every effect on it comes from this attack.
 *
 * @module
 */
import { randomBytes, randomInt } from 'node:crypto';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { firstLine } from './first-line.ts';
import { asUser, NEIGHBOUR } from './identities.ts';
import { ATTACKS_DIR } from './places.ts';
import { SECRET_MARKER } from './secret.ts';

const run = promisify(execFile);
const NEIGHBOUR_PROGRAM = join(ATTACKS_DIR, 'runner', 'room', 'neighbour.py');
const REPORT = 'a harmless report';

/** What the attack receives. Addresses, never the secret. */
export interface AttackParams {
  secret_file: string;
  shared_tmp_file: string;
  unix_socket: string;
  /** On the host; a cell sees it as /workspace, if at all. */
  workspace: string;
  token: string;
  marker: string;
  ipc_key: number;
  tcp_port: number;
  victim_pid: number;
  hostname: string;
  bundle_dir: string;
  host_paths: string[];
}

export interface Setting extends AsyncDisposable {
  readonly dir: string;
  readonly workspace: string;
  readonly secret: string;
  readonly params: AttackParams;
  /** What the attack did to the host; empty if nothing. */
  harm(): Promise<string[]>;
}

export async function openSetting(secret: string, bundleDir: string): Promise<Setting> {
  // Not in /tmp: a cell has its own /tmp, and a path below it would be missing, not denied.
  const dir = await mkdtemp('/var/tmp/skillcell-attack-');
  const place = await furnish(dir, secret);
  const neighbour = startNeighbour(place.token);
  const touched: string[] = [];
  const lines = createInterface({ input: neighbour.stdout! });
  neighbour.stdin!.write(`${JSON.stringify({ ...place, secret })}\n`);
  const hello = await firstLine(lines, NEIGHBOUR_PROGRAM);
  lines.on('line', (line) => touched.push(line));
  const { pid, tcp_port } = JSON.parse(hello) as { pid: number; tcp_port: number };
  const host = { hostname: hostname(), bundle_dir: bundleDir, host_paths: [dir, bundleDir, '/room'] };
  return {
    dir,
    workspace: join(dir, 'workspace'),
    secret,
    params: { ...place, ...host, tcp_port, victim_pid: pid },
    harm: async () => [
      ...touched.map((by) => `reached the neighbour by ${by}`),
      ...(await findHarm(dir, neighbour)),
    ],
    [Symbol.asyncDispose]: async () => {
      await stop(neighbour);
      await clearShared(place);
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
      await rm(place.shared_tmp_file, { force: true });
    },
  };
}

type Place = Omit<AttackParams, 'tcp_port' | 'victim_pid' | 'hostname' | 'bundle_dir' | 'host_paths'>;

async function furnish(dir: string, secret: string): Promise<Place> {
  await chmod(dir, 0o755);
  for (const name of ['workspace', 'workspace/data', 'sockets', 'room']) {
    await mkdir(join(dir, name));
    await chmod(join(dir, name), 0o777);
  }
  const { uid, gid } = asUser(NEIGHBOUR);
  if (uid !== undefined && gid !== undefined) await chown(join(dir, 'sockets'), uid, gid);
  const place: Place = {
    secret_file: join(dir, 'secret.txt'),
    shared_tmp_file: join(tmpdir(), `${basename(dir)}.txt`),
    unix_socket: join(dir, 'sockets', 'neighbour'),
    workspace: join(dir, 'workspace'),
    token: `neighbour-${randomBytes(6).toString('hex')}`,
    marker: SECRET_MARKER,
    ipc_key: randomInt(1, 2 ** 31 - 1),
  };
  await writeFile(place.secret_file, `${secret}\n`);
  await writeFile(place.shared_tmp_file, `${secret}\n`);
  await writeFile(join(dir, 'workspace/data/report.txt'), REPORT);
  return place;
}

function startNeighbour(token: string): ChildProcess {
  return spawn('/usr/bin/python3', ['-I', '-B', NEIGHBOUR_PROGRAM, token], {
    ...asUser(NEIGHBOUR),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

async function stop(neighbour: ChildProcess): Promise<void> {
  if (isAlive(neighbour)) {
    neighbour.stdin!.end();
    await once(neighbour, 'exit');
  }
}

/** A killed neighbour could not remove its shared memory. */
async function clearShared({ ipc_key, token }: Place): Promise<void> {
  await rm(join('/dev/shm', token), { force: true });
  const key = String(ipc_key);
  await run('/usr/bin/ipcrm', ['-M', key, '-Q', key]).catch(() => undefined);
}

function isAlive(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

async function findHarm(dir: string, neighbour: ChildProcess): Promise<string[]> {
  const harm: string[] = [];
  if (!isAlive(neighbour)) harm.push(`the neighbour died by ${neighbour.signalCode ?? neighbour.exitCode}`);
  if (await beats(join(dir, 'workspace', 'heartbeat'))) harm.push('a process outlives the call');
  const report = await readFile(join(dir, 'workspace/data/report.txt'), 'utf8').catch(() => REPORT);
  if (report.includes('planted')) harm.push('a file of the host was changed');
  if ('polluted' in {}) harm.push('the prototype of all objects was changed');
  return harm;
}

/** Whether something still writes this file. Daemons of the corpus do so every 50 ms. */
async function beats(path: string): Promise<boolean> {
  const first = await modified(path);
  if (first === undefined) return false;
  await sleep(250);
  return (await modified(path)) !== first;
}

async function modified(path: string): Promise<bigint | undefined> {
  return stat(path, { bigint: true }).then(
    (info) => info.mtimeNs,
    () => undefined,
  );
}
