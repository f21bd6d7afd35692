/**
 * A complete broker for tests, whose files and web servers are in memory.
 *
 * @module
 */
import {
  type BrokerAnswer,
  type BrokerClient,
  BrokerError,
  type FileStat,
  type HttpRequest,
  type OpenFlags,
  type Preopen,
} from '../../../guest/wasm/wasi/broker-client.ts';

interface File {
  type: 'regular-file';
  bytes: Uint8Array;
  identity: string;
  modified: string;
}
interface Directory {
  type: 'directory';
  children: Map<string, Node>;
  identity: string;
  modified: string;
}
interface Link {
  type: 'symbolic-link';
  target: string;
  identity: string;
  modified: string;
}
type Node = File | Directory | Link;
type Args = Record<string, unknown>;

export interface Served {
  status: number;
  headers: [string, string][];
  body: string;
}

/** As on a full disk, only part of the data is written. */
const MAX_WRITE = 1000;

export class MemoryBroker implements BrokerClient {
  readonly requests: { op: string; args: Args; bytes?: Uint8Array }[] = [];
  readonly open: Map<number, Node> = new Map();
  readonly bodies: Map<number, Uint8Array> = new Map();
  readonly root: Directory;
  /** Answers HTTP requests; without it they are denied. */
  serve: ((request: HttpRequest, body: Uint8Array) => Served) | undefined;
  #next = 100;

  constructor() {
    this.root = this.#directory();
    this.open.set(1, this.root);
  }

  preopen(writable = true): Preopen {
    return { id: 1, guestPath: '/data', writable };
  }

  ops(): string[] {
    return this.requests.map((request) => request.op);
  }

  async request(op: string, args: Args, bytes?: Uint8Array): Promise<BrokerAnswer> {
    this.requests.push({ op, args, ...(bytes === undefined ? {} : { bytes }) });
    // As over a channel: never synchronously, and never the same memory.
    await new Promise((resolve) => setImmediate(resolve));
    if (op.startsWith('http')) return this.#http(op, args, bytes);
    if ('toDir' in args) return this.#relate(op, args);
    if ('dir' in args) return this.#at(op, args);
    return this.#onFile(op, args, bytes);
  }

  #http(op: string, args: Args, bytes: Uint8Array | undefined): BrokerAnswer {
    if (op === 'http') {
      if (this.serve === undefined) throw new BrokerError('denied', 'The host is not granted');
      const { status, headers, body } = this.serve(
        args as unknown as HttpRequest,
        bytes ?? new Uint8Array(0),
      );
      this.bodies.set((this.#next += 1), Buffer.from(body));
      return { value: { status, headers, body: this.#next } };
    }
    const id = Number(args['body']);
    const rest = this.bodies.get(id);
    if (rest === undefined) throw new BrokerError('badf');
    if (op === 'httpClose') {
      this.bodies.delete(id);
      return { value: {} };
    }
    const length = Number(args['length']);
    this.bodies.set(id, rest.subarray(length));
    return { value: {}, bytes: rest.slice(0, length) };
  }

  #onFile(op: string, args: Args, bytes: Uint8Array | undefined): BrokerAnswer {
    const id = Number(args['file']);
    const node = this.open.get(id);
    if (node === undefined) throw new BrokerError('badf');
    if (op === 'close') this.open.delete(id);
    if (op === 'close' || op === 'sync') return { value: {} };
    if (op === 'stat') return { value: { ...statOf(node) } };
    if (op === 'setTimes') return this.#setTimes(node, args);
    if (op === 'readDir') {
      if (node.type !== 'directory') throw new BrokerError('notdir');
      const entries = [...node.children].map(([name, { type, identity }]) => ({ name, type, identity }));
      return { value: { entries, identity: node.identity } };
    }
    if (node.type !== 'regular-file') throw new BrokerError('isdir');
    return transfer(node, { op, args, bytes: bytes ?? new Uint8Array(0) });
  }

  #at(op: string, args: Args): BrokerAnswer {
    const path = args['path'] as string[];
    if (op === 'open') return this.#openAt(args);
    if (op === 'statAt') return { value: { ...statOf(this.#walk(args['dir'], path)) } };
    if (op === 'setTimesAt') return this.#setTimes(this.#walk(args['dir'], path), args);
    if (op === 'symlinkAt') throw new BrokerError('perm');
    const name = path.at(-1) ?? '';
    const parent = this.#parent(args['dir'], path);
    const node = parent.children.get(name);
    if (op === 'mkdirAt') {
      if (node !== undefined) throw new BrokerError('exist');
      parent.children.set(name, this.#directory());
      return { value: {} };
    }
    if (node === undefined) throw new BrokerError('noent');
    if (op === 'readlinkAt') {
      if (node.type !== 'symbolic-link') throw new BrokerError('inval');
      return { value: { target: node.target } };
    }
    if (op === 'rmdirAt') {
      if (node.type !== 'directory') throw new BrokerError('notdir');
      if (node.children.size > 0) throw new BrokerError('notempty');
    } else if (node.type === 'directory') throw new BrokerError('isdir');
    parent.children.delete(name);
    return { value: {} };
  }

  #relate(op: string, args: Args): BrokerAnswer {
    const [path, toPath] = [args['path'] as string[], args['toPath'] as string[]];
    const [from, to] = [this.#parent(args['dir'], path), this.#parent(args['toDir'], toPath)];
    const node = from.children.get(path.at(-1) ?? '');
    if (node === undefined) throw new BrokerError('noent');
    if (op === 'linkAt' && to.children.has(toPath.at(-1) ?? '')) throw new BrokerError('exist');
    if (op === 'renameAt') from.children.delete(path.at(-1) ?? '');
    to.children.set(toPath.at(-1) ?? '', node);
    return { value: {} };
  }

  #openAt(args: Args): BrokerAnswer {
    const flags = args['flags'] as OpenFlags;
    const path = args['path'] as string[];
    let node: Node;
    try {
      node = this.#walk(args['dir'], path);
      if (flags.create && flags.exclusive) throw new BrokerError('exist');
    } catch (error) {
      if (!(error instanceof BrokerError) || error.code !== 'noent' || !flags.create) throw error;
      node = { type: 'regular-file', bytes: new Uint8Array(0), ...this.#meta() };
      this.#parent(args['dir'], path).children.set(path.at(-1) ?? '', node);
    }
    if (node.type === 'symbolic-link') throw new BrokerError('loop');
    if (node.type === 'directory' && flags.write) throw new BrokerError('isdir');
    if (node.type !== 'directory' && flags.directory) throw new BrokerError('notdir');
    if (node.type === 'regular-file' && flags.truncate) node.bytes = new Uint8Array(0);
    this.open.set((this.#next += 1), node);
    return { value: { file: this.#next, type: node.type, size: statOf(node).size } };
  }

  #setTimes(node: Node, args: Args): BrokerAnswer {
    const modified = String(args['modified']);
    if (modified === 'now') node.modified = '2000000000000000000';
    else if (modified !== 'keep') node.modified = modified;
    return { value: {} };
  }

  #parent(dir: unknown, path: string[]): Directory {
    const parent = this.#walk(dir, path.slice(0, -1));
    if (parent.type !== 'directory') throw new BrokerError('notdir');
    return parent;
  }

  #walk(dir: unknown, path: string[]): Node {
    let node = this.open.get(Number(dir));
    if (node === undefined) throw new BrokerError('badf');
    for (const name of path) {
      if (node.type === 'symbolic-link') throw new BrokerError('loop');
      if (node.type !== 'directory') throw new BrokerError('notdir');
      node = node.children.get(name);
      if (node === undefined) throw new BrokerError('noent');
    }
    return node;
  }

  #directory(): Directory {
    return { type: 'directory', children: new Map(), ...this.#meta() };
  }

  #meta(): { identity: string; modified: string } {
    this.#next += 1;
    return { identity: this.#next.toString(16).padStart(32, '0'), modified: '1000000000123456789' };
  }

  addFile(name: string, text: string): void {
    this.root.children.set(name, { type: 'regular-file', bytes: Buffer.from(text), ...this.#meta() });
  }

  addLink(name: string, target: string): void {
    this.root.children.set(name, { type: 'symbolic-link', target, ...this.#meta() });
  }

  text(name: string): string {
    const node = this.root.children.get(name);
    return node?.type === 'regular-file'
      ? Buffer.from(node.bytes).toString()
      : `<${node?.type ?? 'nothing'}>`;
  }
}

function transfer(
  node: File,
  { op, args, bytes }: { op: string; args: Args; bytes: Uint8Array },
): BrokerAnswer {
  const offset = op === 'append' ? node.bytes.length : Number(args['offset']);
  if (op === 'read') return { value: {}, bytes: node.bytes.slice(offset, offset + Number(args['length'])) };
  if (op === 'setSize') {
    const resized = new Uint8Array(Number(args['size']));
    resized.set(node.bytes.subarray(0, resized.length));
    node.bytes = resized;
    return { value: {} };
  }
  const part = bytes.subarray(0, MAX_WRITE);
  const grown = new Uint8Array(Math.max(node.bytes.length, offset + part.length));
  grown.set(node.bytes);
  grown.set(part, offset);
  node.bytes = grown;
  return { value: { written: part.length } };
}

function statOf(node: Node): FileStat {
  const { type, identity, modified } = node;
  const size = type === 'regular-file' ? node.bytes.length : 0;
  return { type, size, links: 1, accessed: modified, modified, changed: modified, identity };
}
