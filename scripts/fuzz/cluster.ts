/**
 * Mutated messages and bundles of a cluster. A finding is an exception other than a SkillError that calls the message
 * malformed, a path that leaves the folder of a bundle, a size beyond the limits, or a bundle that changes when it is packed
 * and read again.
 *
 * @module
 */
import { deepStrictEqual } from 'node:assert/strict';
import { readFrame, writeFrame, type Frame } from '../../src/cluster/frame.ts';
import { unpackBundle } from '../../src/cluster/bundles.ts';
import {
  encode,
  readAnnouncement,
  readCall,
  readKeyEntry,
  readMark,
  readReply,
  readRow,
} from '../../src/cluster/messages.ts';
import { SkillError } from '../../src/errors.ts';
import { BUNDLE_LIMITS } from '../../src/load/read-bundle.ts';
import { mutant } from './random.ts';
import { fuzzTarget, type FuzzTarget } from './target.ts';

const ID = '01JD8Z5K3V9T4S7Q2M6N0P1R8W';
const DIGEST = 'a'.repeat(64);
const IDENTITY = { name: 'a/b', version: '1.0.0', digest: DIGEST };
const CALL = {
  ...{ v: 1, id: ID, front: 'web', skill: { name: 'a/b', digest: DIGEST }, caller: 'http:acme:app' },
  ...{ isolated: true, beginBefore: 1_800_000_000_000, timeout: 500, keeps: true },
};
const OUTCOME = {
  ...{ ok: true, call_id: ID, skill: IDENTITY, usage: { wall_ms: 1 }, logs: 'ä', warnings: [] },
  capabilities: { used: [{ capability: 'env', asked: 'A', declared: 'A' }], denied: [] },
};
const ANNOUNCEMENT = {
  ...{ v: 1, name: 'w1', boot: 'b', pool: 'default', tenants: ['acme'], version: '0.1.0', policy: DIGEST },
  ...{ slots: 2, running: 0, isDraining: false, warm: [DIGEST] },
  pairs: [{ mode: 'wasm', wall: 'jail', engine: 'component', unenforced: ['limits.files'] }],
};

/** Special to JSON and to lengths. */
const WORDS = {
  bytes: [0x00, 0x22, 0x2c, 0x2d, 0x30, 0x5b, 0x5d, 0x7b, 0x7d, 0x5c, 0xff],
  runs: ['[[[[[[[[', '1e999', '-1', '../', '"a/"', '"__proto__":', '\\u0000', 'null'].map((text) =>
    Array.from(Buffer.from(text)),
  ),
};

const MESSAGES: readonly Uint8Array[] = [
  writeFrame(CALL, Buffer.from('{"text":"hi"}')),
  writeFrame({ type: 'accepted', worker: 'w1' }),
  writeFrame({
    type: 'started',
    skill: IDENTITY,
    execution: { mode: 'wasm', wall: 'jail', engine: 'python' },
  }),
  writeFrame({ type: 'log', text: 'hello', stream: 'stdout' }),
  writeFrame({ type: 'done', outcome: OUTCOME }, Buffer.from('[1,2]')),
  encode(ANNOUNCEMENT),
  encode({ state: 'begun', by: 'w1', nonce: 'x' }),
  encode({ id: ID, request: DIGEST }),
  encode({ seq: 1, prev: DIGEST, hash: DIGEST, body: '{}' }),
];

const READERS: readonly ((bytes: Uint8Array) => unknown)[] = [
  readFrame,
  readCall,
  readReply,
  readAnnouncement,
  readMark,
  readKeyEntry,
  readRow,
];

/** The length of a head hides most mutants from what is behind it: in most inputs, it is that of the mutated head. */
function mutantFrame(corpus: readonly Uint8Array[], seed: number): Uint8Array {
  const bytes = mutant({ corpus, seed, ...WORDS });
  if (seed % 4 === 0) return bytes;
  const frames = corpus.flatMap((one) => attempt(() => partsOf(one)) ?? []);
  const frame = frames[seed % frames.length];
  if (!frame || seed % 4 === 1) return bytes;
  const head = mutant({ corpus: [frame.head], seed, ...WORDS });
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, frame.body]);
}

function partsOf(frame: Uint8Array): { head: Uint8Array; body: Uint8Array } {
  const { body } = readFrame(frame);
  return { head: frame.subarray(4, frame.length - body.length), body };
}

/** True if at least one reader accepts the message. */
export const messagesTarget: FuzzTarget = fuzzTarget({
  name: 'cluster-messages',
  suiteRuns: 2000,
  input: (seed) => mutantFrame(MESSAGES, seed),
  check: (bytes) => {
    const frame = attempt(() => readFrame(bytes));
    if (frame && frame.body.length > bytes.length) throw new Error('The body is longer than its message');
    if (typeof frame?.head === 'object' && frame.head !== null)
      deepStrictEqual(plain(readFrame(writeFrame(frame.head, frame.body))), plain(frame));
    return READERS.some((read) => attempt(() => read(bytes)) !== undefined);
  },
});

/** JSON has no infinity and no -0, which a number beyond its range becomes. */
function plain({ head, body }: Frame): unknown {
  return { head: JSON.stringify(head), body: Buffer.from(body).toString('hex') };
}

function packed(files: readonly (readonly [string, string])[]): Uint8Array {
  const body = Buffer.concat(files.map(([, text]) => Buffer.from(text)));
  return writeFrame({ files: files.map(([path, text]) => [path, Buffer.byteLength(text)]) }, body);
}

const BUNDLES: readonly Uint8Array[] = [
  packed([
    ['manifest.yaml', 'name: a/b'],
    ['skill.py', 'def execute(params): pass'],
    ['data/deep/er.txt', 'ä'],
  ]),
  packed([
    ['SKILL.md', '---'],
    ['skill.lock', '{}'],
    ['skill.sig', '{}'],
  ]),
  packed([]),
];

export const clusterBundleTarget: FuzzTarget = fuzzTarget({
  name: 'cluster-bundle',
  suiteRuns: 2000,
  input: (seed) => mutantFrame(BUNDLES, seed),
  check: (bytes) => {
    const files = attempt(() => unpackBundle(bytes));
    if (!files) return false;
    assertSafe(files);
    const again = writeFrame(
      { files: [...files].map(([path, { length }]) => [path, length]) },
      Buffer.concat([...files.values()]),
    );
    deepStrictEqual(unpackBundle(again), files);
    return true;
  },
});

function assertSafe(files: ReadonlyMap<string, Buffer>): void {
  for (const path of files.keys()) {
    const parts = path.split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0')))
      throw new Error(`A path leaves the bundle: ${JSON.stringify(path)}`);
    if (parts.slice(1).some((_, at) => files.has(parts.slice(0, at + 1).join('/'))))
      throw new Error(`A path is a file and a folder: ${JSON.stringify(path)}`);
  }
  const total = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  if (files.size > BUNDLE_LIMITS.files + 2 || total > 2 * BUNDLE_LIMITS.totalBytes)
    throw new Error('A bundle beyond the limits was accepted');
}

/** Undefined for a refusal that calls the message malformed. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SkillError && error.code === 'usage' && error.message.includes('malformed'))
      return undefined;
    throw error;
  }
}
