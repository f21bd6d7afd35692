/**
 * Starts the interpreter in the installer, before there is an image.
 *
 * @module
 */
import { boot } from '../engine/boot.ts';
import { Interpreter, PAGE_BYTES, type EngineCode, type Layout } from '../engine/interpreter.ts';
import type { DataSegment } from '../engine/rewrite.ts';
import { ports } from '../cell/ports.ts';
import { READ_ONLY } from '../files/contract.ts';
import { DeviceTree } from '../files/devices.ts';
import { FixedTree } from '../files/fixed-tree.ts';
import { Mounts } from '../files/mounts.ts';
import { Quota, ScratchTree } from '../files/scratch.ts';
import type { Ports } from '../host/context.ts';
import { GuestProcess } from '../host/process.ts';

export const MIN_PAGES = 128;
const BUILD_PAGES = 8192;
const BUILD_SCRATCH_BYTES = 256 * 1024 * 1024;
const LIBRARY = '/lib/python314.zip';
const HASH_SEED_BYTES = 4;

/** Variables of every cell; granted variables are added to them. */
const BASE_ENV = { PATH: '/usr/bin:/bin', HOME: '/tmp', TMPDIR: '/tmp', LANG: 'C.UTF-8' };

export interface StartInput {
  code: EngineCode;
  data: DataSegment[];
  library: Uint8Array;
  /** Modules, and additions to library modules, by path. */
  added: Record<string, string>;
  /** Receives what the interpreter prints. */
  report: (text: string) => void;
}

export interface Started {
  interpreter: Interpreter;
  layout: Layout;
  /** Its `/tmp`. */
  scratch: ScratchTree;
}

export function start(input: StartInput): Started {
  const { code, data } = input;
  const scratch = new ScratchTree({ quota: new Quota(BUILD_SCRATCH_BYTES), now: () => Date.now() });
  const heapStart = code.libraries?.plan.end;
  const outside = ports((exitCode) => {
    throw new Error(`The engine exited with code ${exitCode} while it was being prepared`);
  });
  const process = new GuestProcess({
    mounts: mountsFor({ ...input, scratch }, outside),
    onOutput: (bytes) => input.report(new TextDecoder().decode(bytes)),
    channel: new DeviceTree(outside.random).open(['null'], READ_ONLY),
  });
  const interpreter = new Interpreter({
    code,
    initialPages: pagesFor(data, heapStart),
    maxPages: BUILD_PAGES,
    surroundings: { process, ports: outside, env: BASE_ENV },
  });
  const layout = boot(interpreter, { data, library: LIBRARY, hashSeed: newSeed(outside), heapStart });
  interpreter.libraries?.initialise();
  return { interpreter, layout, scratch };
}

function newSeed({ random }: Ports): number {
  const seed = new Uint8Array(HASH_SEED_BYTES);
  random(seed);
  return new DataView(seed.buffer).getUint32(0);
}

function mountsFor(
  { library, added: texts, scratch }: StartInput & { scratch: ScratchTree },
  { random }: Ports,
): Mounts {
  const mounts = new Mounts();
  const lib = new FixedTree();
  lib.addFile(['python314.zip'], library.length, () => library);
  lib.addFile(['source.zip'], library.length, () => library);
  const added = new FixedTree();
  for (const [path, text] of Object.entries(texts)) {
    const bytes = new TextEncoder().encode(text);
    added.addFile(path.split('/'), bytes.length, () => bytes);
  }
  mounts.mount('/lib', lib);
  mounts.mount('/added', added);
  mounts.mount('/dev', new DeviceTree(random));
  mounts.mount('/tmp', scratch);
  return mounts;
}

function pagesFor(data: DataSegment[], heapStart: number = 0): number {
  const end = data.reduce((most, { address, bytes }) => Math.max(most, address + bytes.length), heapStart);
  return Math.max(MIN_PAGES, Math.ceil(end / PAGE_BYTES) + 64);
}
