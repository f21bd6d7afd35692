/**
 * What all peers share: their packages, and a separate process that answers messages.
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../scripts/steps.ts';

export const PEERS: string = join(import.meta.dirname, 'peers');

/** Installs the packages of all peers; false if npm could not. A changed list is installed again. */
export function installPeerPackages(folder: string = PEERS): boolean {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageFile;
  const installed = Object.entries(dependencies).every(
    ([name, version]) => versionOf(name, folder) === version,
  );
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  return installed || runProgram('npm', args, { cwd: folder });
}

/** Undefined if it is not installed. */
export function versionOf(name: string, folder: string = PEERS): string | undefined {
  const file = join(folder, 'node_modules', name, 'package.json');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as PackageFile).version;
}

/** The next message; an error if the process exits first. */
export async function answerOf<T>(child: ChildProcess): Promise<T> {
  const exit = new AbortController();
  const onExit = (code: number | null): void => exit.abort(new Error(`The peer exited with ${code}`));
  child.once('exit', onExit);
  try {
    const [message] = (await once(child, 'message', { signal: exit.signal })) as [T];
    return message;
  } catch (error) {
    // `once` has an error of its own for that, without the exit code.
    exit.signal.throwIfAborted();
    throw error;
  } finally {
    child.off('exit', onExit);
  }
}

/** Lets a process exit by itself, and waits for it. */
export async function dismiss(child: ChildProcess): Promise<void> {
  if (!child.connected) return;
  const exit = once(child, 'exit');
  child.disconnect();
  await exit;
}

interface PackageFile {
  version: string;
  dependencies: Record<string, string>;
}
