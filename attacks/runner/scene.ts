/**
 * What the attacks on Wasm cells find in addition to the setting: links and pipes in the workspace, a web server, and
 * a host process that swaps a directory.
 *
 * @module
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Scene, WasmAttack } from '../wasm/attack.ts';
import { firstLine } from './first-line.ts';
import { asUser, NEIGHBOUR } from './identities.ts';
import { PATIENT_LIMITS } from './patience.ts';
import { ATTACKS_DIR } from './places.ts';
import type { Setting } from './setting.ts';

const run = promisify(execFile);
const WEB_PROGRAM = join(ATTACKS_DIR, 'runner', 'room', 'web.py');

export interface OpenScene extends Scene, AsyncDisposable {
  /** The attack, as a bundle. */
  readonly bundleDir: string;
  /** The same for the control room. */
  readonly controlDir: string;
  readonly links: Record<string, string>;
}

export async function openScene(attack: WasmAttack, setting: Setting): Promise<OpenScene> {
  const web = attack.web ? await startWeb(setting) : undefined;
  const scene: Scene = { setting, webPort: web?.port ?? 0 };
  const links = attack.links(scene);
  for (const [name, target] of Object.entries(links)) await symlink(target, join(setting.workspace, name));
  for (const name of attack.fifos) await run('/usr/bin/mkfifo', [join(setting.workspace, name)]);
  const bundleDir = await writeFolder(join(setting.dir, 'attack'), {
    'manifest.yaml': JSON.stringify(manifestOf(attack, scene)),
    'skill.wasm': attack.binary(),
    ...copiesOf(attack),
  });
  const modules = Object.entries(attack.naive()).map(([name, bytes]) => [`${name}.wasm`, bytes] as const);
  const controlDir = await writeFolder(join(setting.dir, 'control'), Object.fromEntries(modules));
  return {
    ...scene,
    bundleDir,
    controlDir,
    links,
    [Symbol.asyncDispose]: async () => web?.[Symbol.asyncDispose](),
  };
}

function copiesOf({ copies, binary }: WasmAttack): Record<string, Uint8Array> {
  return Object.fromEntries(Array.from({ length: copies }, (_, index) => [`copy${index}.wasm`, binary()]));
}

function manifestOf(attack: WasmAttack, scene: Scene): Record<string, unknown> {
  const declared = attack.manifest(scene);
  return {
    name: `attacks/${attack.name}`,
    version: '1.0.0',
    description: attack.description,
    execution: 'wasm',
    entry: 'skill.wasm',
    capabilities: {},
    ...declared,
    limits: { ...PATIENT_LIMITS, ...(declared['limits'] as Record<string, unknown> | undefined) },
  };
}

async function writeFolder(dir: string, files: Record<string, string | Uint8Array>): Promise<string> {
  await mkdir(dir);
  for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content);
  return dir;
}

export interface Web extends AsyncDisposable {
  port: number;
}

export async function startWeb(setting: Setting): Promise<Web> {
  const server = spawn('/usr/bin/python3', ['-I', '-B', WEB_PROGRAM], {
    ...asUser(NEIGHBOUR),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const place = { secret: setting.secret, forbidden: setting.params.tcp_port };
  server.stdin.write(`${JSON.stringify(place)}\n`);
  const hello = await firstLine(createInterface({ input: server.stdout }), WEB_PROGRAM);
  const { port } = JSON.parse(hello) as { port: number };
  const stop = async (): Promise<void> => {
    server.stdin.end();
    await once(server, 'exit');
  };
  return { port, [Symbol.asyncDispose]: stop };
}

/** Replaces the directory `data` with a link to its parent as soon as the skill holds it. */
export async function swapWhenReady(workspace: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (await exists(join(workspace, 'ready'))) {
      await rename(join(workspace, 'data'), join(workspace, 'gone'));
      await symlink('..', join(workspace, 'data'));
      return writeFile(join(workspace, 'swapped'), '');
    }
    await sleep(10);
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
