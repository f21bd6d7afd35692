/**
 * A broker over real folders, with shortcuts for requests.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { openBroker, type BrokerOptions } from '../../src/broker/broker.ts';
import { BrokerRefusal, type BrokerReply, type CallBroker } from '../../src/cell/contract.ts';
import type { Bundle } from '../../src/load/bundle.ts';
import { DEFAULT_LIMITS } from '../../src/vocabulary/limits.ts';
import type { Grant } from '../../src/policy/grant.ts';

/** Handles that a cell has from the start: the bundle, then the granted paths in order. */
export const BUNDLE = 0;
export const FIRST = 1;
export const SECOND = 2;

export function grantOf(parts: Partial<Grant> = {}): Grant {
  return {
    filesystem: [],
    network: [],
    env: {},
    syscalls: 'default',
    limits: DEFAULT_LIMITS,
    withheld: [],
    ...parts,
  };
}

export class Folders implements Disposable {
  readonly root: string = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-broker-')));
  readonly bundle: string = this.make('bundle');
  readonly work: string = this.make('work');

  make(name: string): string {
    const folder = join(this.root, name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export class Asked implements Disposable {
  readonly broker: CallBroker;

  constructor(grant: Grant, bundleDir: string, options: BrokerOptions = {}) {
    // The broker uses only the staged folder of a bundle.
    this.broker = openBroker(grant, { stagedDir: bundleDir } as Bundle, options);
  }

  async reply(op: string, args: Record<string, unknown>, payload?: Uint8Array): Promise<BrokerReply> {
    return this.broker.handle({ op, args, ...(payload ? { payload } : {}) });
  }

  async value(
    op: string,
    args: Record<string, unknown>,
    payload?: Uint8Array,
  ): Promise<Record<string, unknown>> {
    return (await this.reply(op, args, payload)).value;
  }

  /** Returns the code of the refusal, or `done`. */
  async code(op: string, args: Record<string, unknown>, payload?: Uint8Array): Promise<string> {
    try {
      await this.reply(op, args, payload);
      return 'done';
    } catch (error) {
      if (error instanceof BrokerRefusal) return error.code;
      throw error;
    }
  }

  async open(dir: number, path: string[], flags: Record<string, boolean> = {}): Promise<number> {
    return Number((await this.value('open', { dir, path, flags: { read: true, ...flags } }))['file']);
  }

  openCode(dir: number, path: string[], flags: Record<string, boolean> = {}): Promise<string> {
    return this.code('open', { dir, path, flags: { read: true, ...flags } });
  }

  async text(file: number, offset = 0, length: number = 1 << 20): Promise<string> {
    const { payload } = await this.reply('read', { file, offset, length });
    return Buffer.from(payload ?? []).toString();
  }

  [Symbol.dispose](): void {
    this.broker.close();
  }
}

/** A broker over a bundle with one file and a granted folder with one, which tests may open again with other options. */
export class OneGrant implements Disposable {
  readonly folders: Folders = new Folders();

  constructor() {
    writeFileSync(join(this.folders.bundle, 'data.txt'), 'from the bundle');
    mkdirSync(join(this.folders.work, 'sub', 'deep'), { recursive: true });
    writeFileSync(join(this.folders.work, 'sub', 'deep', 'file.txt'), 'deep inside');
  }

  open(path: { access?: 'read' | 'read-write'; maxBytes?: number } = {}): Asked {
    const granted = { host: this.folders.work, guest: '/workspace', access: 'read-write', ...path } as const;
    return new Asked(grantOf({ filesystem: [granted] }), this.folders.bundle);
  }

  [Symbol.dispose](): void {
    this.folders[Symbol.dispose]();
  }
}

interface Opened {
  grant: OneGrant;
  folders: Folders;
  asked: Asked;
}

/** Opens a grant and its broker for each test of a file. */
export function grantForEachTest(take: (opened: Opened) => void): void {
  let opened: Opened;
  beforeEach(() => {
    const grant = new OneGrant();
    opened = { grant, folders: grant.folders, asked: grant.open() };
    take(opened);
  });
  afterEach(() => {
    opened.asked[Symbol.dispose]();
    opened.grant[Symbol.dispose]();
  });
}

export const bytes = (text: string): Uint8Array => Buffer.from(text);
export const WRITE = { write: true, create: true };

export function countDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
