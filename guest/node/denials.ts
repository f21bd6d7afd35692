/**
 * Explains denials: Node's permission checks announce each act before it happens, and acts outside the grant are reported
 * to the host. This is a courtesy, not the wall: code that bypasses the checks is stopped by the kernel.
 *
 * @module
 */
import { subscribe } from 'node:diagnostics_channel';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { CapabilityFields, View } from '../protocol.ts';
import { send } from './channel.ts';

export type Denial = CapabilityFields;

const MAX_REPORTS = 64;
const MAX_USES = 4000;
const MAX_TEXT = 200;
const MAX_CAUSES = 32;
/** Readable in every cell. */
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

/** Reports each distinct denial to the host once; also each distinct use, if the host records what a skill needs. */
export class Reporter {
  readonly #view: View;
  readonly #reported = { denied: new Set<string>(), used: new Set<string>() };

  constructor(view: View) {
    this.#view = view;
  }

  denied(denial: Denial): CapabilityDenied {
    this.#report('denied', denial, MAX_REPORTS);
    return new CapabilityDenied(denial);
  }

  used(capability: string, asked: string): void {
    if (this.#view.observe) this.#report('used', { capability, asked, declared: 'granted' }, MAX_USES);
  }

  /** Handles a failed permission check of Node; while needs are recorded, granted acts arrive here as well. */
  onPermissionCheck(permission: unknown, resource: unknown): void {
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

  /** Translates a permission check of Node into a capability. */
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

  #report(kind: 'denied' | 'used', denial: Denial, most: number): void {
    const reported = this.#reported[kind];
    const key = `${denial.capability} ${denial.asked}`;
    if (reported.has(key) || reported.size >= most) return;
    reported.add(key);
    send({ t: kind, ...denial });
  }
}

function isWithin(path: string, roots: string[]): boolean {
  return roots.some((root) => path === root || path.startsWith(`${root}/`));
}

/** Reports what Node's permission checks deny. */
export function watchPermissions(reporter: Reporter): void {
  for (const name of ['fs', 'child', 'net', 'addon', 'wasi', 'ffi'])
    subscribe(`node:permission-model:${name}`, (message) => {
      const { permission, resource } = message as { permission?: unknown; resource?: unknown };
      reporter.onPermissionCheck(permission, resource);
    });
}

/** Node's error for a failed permission check. */
interface AccessDenied {
  code?: unknown;
  permission?: unknown;
  resource?: unknown;
  hostname?: unknown;
}

/** Returns the denial that caused this error, if its chain of causes contains one. */
export function denialBehind(error: unknown, reporter?: Reporter): Denial | undefined {
  for (const cause of causesOf(error)) {
    if (cause instanceof CapabilityDenied) return cause.denial;
    const { code, permission, resource, hostname } = cause as AccessDenied;
    if (code !== 'ERR_ACCESS_DENIED' || !reporter) continue;
    // Failed name lookups have only the name.
    if (permission !== undefined) return reporter.asDenial(permission, resource);
    if (hostname !== undefined) return reporter.asDenial('Net', hostname);
  }
  return undefined;
}

/** The error and its chain of causes. */
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
