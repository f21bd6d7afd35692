/**
 * Settles the parts of a command that depend on the grant. Code of the workspace is read here once, so that what was
 * digested is what runs.
 *
 * @module
 */
import { constants, existsSync } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { posix } from 'node:path';
import { sha256 } from '../../load/digest.ts';
import { quote } from '../../manifest/quote.ts';
import type { Grant, GrantedPath } from '../grant.ts';
import { isInside } from '../kept-places.ts';
import type { Command, ParsedCommand } from './command.ts';
import { notGranted, unusable } from './refusals.ts';

const MAX_SOURCE_BYTES = 1024 * 1024;
const PROGRAM_FOLDERS = ['/usr/bin', '/bin'];

/** The path of a program where the command runs; throws if it is not there. */
type FindProgram = (name: string) => Promise<string>;
type CommandGrant = Pick<Grant, 'filesystem' | 'programs'>;

/** Throws `capability_denied` or `invalid_params`. */
export async function bindCommand(
  parsed: ParsedCommand,
  grant: CommandGrant,
  findProgram: FindProgram = onThisMachine,
): Promise<Command> {
  const { start, ...rest } = parsed;
  if (start.run === 'system') {
    assertGranted(start.name, grant);
    return { ...rest, start: { run: 'program', path: await findProgram(start.name) } };
  }
  if (start.run === 'program' && findProgram !== onThisMachine)
    return { ...rest, start: { run: 'program', path: await findProgram(posix.basename(start.path)) } };
  if (start.run !== 'workspace_file') return { ...rest, start };
  const bytes = await readFileOf(start.path, grant);
  const source = decode(bytes, start.path);
  return { ...rest, start: { run: 'source', name: start.path, source }, digest: sha256(bytes) };
}

function assertGranted(name: string, { programs = [] }: CommandGrant): void {
  if (programs.includes(name)) return;
  throw notGranted(
    `start the program ${quote(name)}`,
    'the grant does not name it',
    `Run a script of the skill. If this program is meant, grant it: --program ${name}.`,
  );
}

async function onThisMachine(name: string): Promise<string> {
  const folder = PROGRAM_FOLDERS.find((one) => existsSync(`${one}/${name}`));
  if (folder !== undefined) return `${folder}/${name}`;
  throw unusable(
    `The program ${quote(name)} is not installed on this machine`,
    `Install ${name} on this machine.`,
  );
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unusable(`The file ${quote(path)} is not UTF-8`, 'Save it as UTF-8.');
  }
}

async function readFileOf(path: string, grant: CommandGrant): Promise<Buffer> {
  const granted = grantedAround(path, grant);
  const missing = unusable(
    `The command names ${quote(path)}, which is not a readable file of the skill or the workspace`,
    'Name a script of the skill, or a Python file of the workspace that the call may read.',
  );
  if (!granted) throw missing;
  const host = await realpath(granted.host + path.slice(granted.guest.length)).catch(() => undefined);
  if (host === undefined || !isInside(host, granted.host)) throw missing;
  // A link that takes the place of the file now is not followed, and a pipe does not block.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  await using file = await open(host, flags).catch(() => {
    throw missing;
  });
  // Nor is one that took the place of a folder above it meanwhile.
  if (!isInside(await realpath(`/proc/self/fd/${file.fd}`), granted.host)) throw missing;
  const found = await file.stat();
  const { size } = found;
  if (!found.isFile()) throw missing;
  if (size > MAX_SOURCE_BYTES)
    throw unusable(
      `The file ${quote(path)} has ${size} bytes of code`,
      `Keep it below ${MAX_SOURCE_BYTES} bytes.`,
    );
  const bytes = Buffer.alloc(MAX_SOURCE_BYTES + 1);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
  return bytes.subarray(0, bytesRead);
}

/** The innermost granted path that contains this one. */
function grantedAround(path: string, { filesystem }: CommandGrant): GrantedPath | undefined {
  return filesystem.findLast(({ guest }) => path === guest || path.startsWith(`${guest}/`));
}
