/**
 * What all peers have in common: their packages, and a process of their own that answers messages.
 *
 * @module
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../scripts/steps.ts';

export const PEERS: string = join(import.meta.dirname, 'peers');

/** Installs the packages of all peers; false when npm could not. A list that has changed is installed anew. */
export function installPeerPackages(folder: string = PEERS): boolean {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageFile;
  const installed = Object.entries(dependencies).every(
    ([name, version]) => versionOf(name, folder) === version,
  );
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  return installed || runProgram('npm', args, { cwd: folder });
}

/** Undefined when it is not installed. */
export function versionOf(name: string, folder: string = PEERS): string | undefined {
  const file = join(folder, 'node_modules', name, 'package.json');
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, 'utf8')) as PackageFile).version;
}

/** The next message; an error when the process ends first. */
export async function answerOf<T>(child: ChildProcess): Promise<T> {
  const ended = new AbortController();
  const onExit = (code: number | null): void => ended.abort(new Error(`The peer ended with ${code}`));
  child.once('exit', onExit);
  try {
    const [message] = (await once(child, 'message', { signal: ended.signal })) as [T];
    return message;
  } finally {
    child.off('exit', onExit);
  }
}

/** Lets a process end by itself, and waits for that. */
export async function dismiss(child: ChildProcess): Promise<void> {
  if (!child.connected) return;
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}

interface PackageFile {
  version: string;
  dependencies: Record<string, string>;
}
