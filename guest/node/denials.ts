/**
 * Says in words what was denied: Node's permission checks tell of each act before it happens, and what lies outside the
 * grant is reported to the host. A courtesy, not the wall: whoever avoids it meets the kernel.
 *
 * @module
 */
import { subscribe } from 'node:diagnostics_channel';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { send } from './channel.ts';

export interface Denial {
  capability: string;
  asked: string;
  declared: string;
}

/** What the host granted, as paths inside the cell. */
export interface View {
  read: string[];
  write: string[];
  processes: boolean;
  env: string[];
  observe: boolean;
}

const MAX_REPORTS = 64;
const MAX_USES = 4000;
const MAX_TEXT = 200;
const MAX_CAUSES = 32;
/** Every cell may look at them. */
const ALWAYS_READABLE = [
  '/skill',
  '/tmp',
  '/dev',
  '/proc',
  '/usr',
  '/lib',
  '/lib64',
  '/bin',
  '/harness',
  '/node',
];

/** An undeclared act. */
export class CapabilityDenied extends Error {
  readonly code = 'EPERM';
  readonly denial: Denial;

  constructor(denial: Denial) {
    super(`Skillcell denied: ${denial.asked} (${denial.declared})`);
    this.denial = denial;
  }

  override get name(): string {
    return 'CapabilityDenied';
  }
}

/** Tells the host of each distinct denial once; and of each use where it records what a skill needs. */
export class Reporter {
  readonly #view: View;
  readonly #told = { denied: new Set<string>(), used: new Set<string>() };

  constructor(view: View) {
    this.#view = view;
  }

  denied(denial: Denial): CapabilityDenied {
    this.#tell('denied', denial, MAX_REPORTS);
    return new CapabilityDenied(denial);
  }

  used(capability: string, asked: string): void {
    if (this.#view.observe) this.#tell('used', { capability, asked, declared: 'granted' }, MAX_USES);
  }

  /** A check of Node said no; or tells of what is granted, where needs are recorded. */
  checked(permission: unknown, resource: unknown): void {
    const denial = this.asDenial(permission, resource);
    if (this.#isGranted(permission, String(resource))) this.used(denial.capability, denial.asked);
    else this.denied(denial);
  }

  #isGranted(permission: unknown, resource: string): boolean {
    const { read, write, processes } = this.#view;
    if (permission === 'ChildProcess') return processes;
    if (permission === 'FileSystemRead') return isWithin(resolve(resource), [...read, ...write]);
    return permission === 'FileSystemWrite' && isWithin(resolve(resource), write);
  }

  /** A check of Node, in the words of a manifest. */
  asDenial(permission: unknown, resource: unknown): Denial {
    const what = short(String(resource));
    if (permission === 'FileSystemRead' || permission === 'FileSystemWrite')
      return this.#fileDenial(permission === 'FileSystemRead' ? 'read' : 'write', short(resolve(what)));
    if (permission === 'Net') {
      const isName = what !== '' && isIP(what) === 0;
      const asked = isName ? `resolve ${what}` : `listen on ${what || 'a port'}`;
      return { capability: 'network', asked, declared: 'no such host is granted' };
    }
    if (permission === 'ChildProcess')
      return { capability: 'process', asked: `start ${what}`, declared: 'limits.processes is not declared' };
    return { capability: 'process', asked: `use ${short(String(permission))}`, declared: 'no cell has it' };
  }

  #fileDenial(access: string, path: string): Denial {
    const isReadable = isWithin(path, [...ALWAYS_READABLE, ...this.#view.read]);
    const declared = access === 'write' && isReadable ? 'readable only' : 'not granted';
    return { capability: 'filesystem', asked: `${access} ${path}`, declared };
  }

  #tell(kind: 'denied' | 'used', denial: Denial, most: number): void {
    const told = this.#told[kind];
    const key = `${denial.capability} ${denial.asked}`;
    if (told.has(key) || told.size >= most) return;
    told.add(key);
    send({ t: kind, ...denial });
  }
}

function isWithin(path: string, roots: string[]): boolean {
  return roots.some((root) => path === root || path.startsWith(`${root}/`));
}

/** Reports what Node's permission checks deny. */
export function watchPermissions(reporter: Reporter): void {
  for (const name of ['fs', 'child', 'net', 'addon', 'wasi', 'ffi'])
    subscribe(`node:permission-model:${name}`, (told) => {
      const { permission, resource } = told as { permission?: unknown; resource?: unknown };
      reporter.checked(permission, resource);
    });
}

/** How Node says that one of its checks failed. */
interface AccessDenied {
  code?: unknown;
  permission?: unknown;
  resource?: unknown;
  hostname?: unknown;
}

/** The denial that led to this error, as far as its causes tell. */
export function denialBehind(error: unknown, reporter?: Reporter): Denial | undefined {
  for (const cause of causesOf(error)) {
    if (cause instanceof CapabilityDenied) return cause.denial;
    const { code, permission, resource, hostname } = cause as AccessDenied;
    if (code !== 'ERR_ACCESS_DENIED' || !reporter) continue;
    // Failures to look up a name have no more than the name.
    if (permission !== undefined) return reporter.asDenial(permission, resource);
    if (hostname !== undefined) return reporter.asDenial('Net', hostname);
  }
  return undefined;
}

/** The error and what it came from, as far as that is written down. */
export function* causesOf(error: unknown): Generator<Error> {
  let cause: unknown = error;
  for (let left = MAX_CAUSES; left > 0 && cause instanceof Error; left--) {
    yield cause;
    cause = cause.cause;
  }
}

export function short(text: string): string {
  // oxlint-disable-next-line no-control-regex -- those are what has to go
  const clean = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '?');
  return clean.length <= MAX_TEXT ? clean : `${clean.slice(0, MAX_TEXT - 3)}...`;
}
