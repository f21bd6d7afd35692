/**
 * Mutated tar files: as layers of an image, and as written by `docker save` and `podman save`. A finding is an exception
 * other than a SkillError that blames the image, a path that leaves the tree, or a tree that changes when written and read.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readArchive } from '../../src/cell/images/archive.ts';
import { Blobs } from '../../src/cell/images/blobs.ts';
import { FileTree } from '../../src/cell/images/file-tree.ts';
import { applyLayer, walkTree, writeLayer } from '../../src/cell/images/layers.ts';
import { IMAGE_LIMITS, type ImageLimits } from '../../src/cell/images/limits.ts';
import { ownArchitecture } from '../../src/cell/images/oci.ts';
import { TAR_END, tarHead, tarPadding } from '../../src/cell/images/tar-writer.ts';
import { SkillError } from '../../src/errors.ts';
import { mutant, randomOf } from './random.ts';
import { fuzzTarget, type FuzzTarget } from './target.ts';

const LIMITS: ImageLimits = { ...IMAGE_LIMITS, entries: 500, bytes: 4 * 1024 * 1024 };
const BLOCK = 512;
/** Entry types, digits, separators and string terminators. */
const TELLING_BYTES: readonly number[] = Array.from(Buffer.from('01234567xgLKS/. =\n-9\0\x80\xff', 'latin1'));
const RUNS: readonly (readonly number[])[] = [
  '../../',
  '/etc/',
  '.wh..wh..opq',
  '77777777777\0',
  '999999 path=',
].map((text) => Array.from(Buffer.from(text, 'latin1')));

interface Entry {
  name: string;
  type?: string;
  text?: string;
  linkName?: string;
}

function tarOf(entries: readonly Entry[]): Buffer {
  const parts = entries.map(({ name, type = '0', text = '', linkName = '' }) => {
    const content = Buffer.from(text);
    const header = { name, type, linkName, mode: 0o755, uid: 0, gid: 0, size: content.length };
    return Buffer.concat([tarHead(header), content, tarPadding(content.length)]);
  });
  return Buffer.concat([...parts, TAR_END]);
}

const LAYERS: readonly Buffer[] = [
  tarOf([
    { name: 'etc/', type: '5' },
    { name: 'etc/passwd', text: 'root' },
    { name: 'bin', type: '2', linkName: 'usr/bin' },
    { name: 'etc/same', type: '1', linkName: 'etc/passwd' },
  ]),
  tarOf([
    { name: 'a/.wh.b' },
    { name: 'a/.wh..wh..opq' },
    { name: `${'long/'.repeat(40)}name`, text: 'x'.repeat(700) },
    { name: 'up', type: '2', linkName: '../../outside' },
  ]),
  tarOf([
    { name: 'pax', type: 'x', text: '18 path=other/path\n12 size=2\n' },
    { name: 'short', text: 'ab' },
    { name: 'L', type: 'L', text: `${'n'.repeat(150)}\0` },
    { name: 'cut' },
  ]),
];

function savedImage(pack: (layer: Buffer) => Buffer): Buffer {
  const layer = LAYERS[0] as Buffer;
  const digest = `sha256:${createHash('sha256').update(layer).digest('hex')}`;
  const config = {
    architecture: ownArchitecture(),
    os: 'linux',
    config: {},
    rootfs: { type: 'layers', diff_ids: [digest] },
  };
  const list = [{ Config: 'config.json', RepoTags: ['a:b'], Layers: ['layer.tar'] }];
  const parts: [string, Buffer][] = [
    ['layer.tar', pack(layer)],
    ['config.json', Buffer.from(JSON.stringify(config))],
    ['manifest.json', Buffer.from(JSON.stringify(list))],
  ];
  const entries = parts.map(([name, bytes]) => {
    const header = { name, type: '0', linkName: '', mode: 0o644, uid: 0, gid: 0, size: bytes.length };
    return Buffer.concat([tarHead(header), bytes, tarPadding(bytes.length)]);
  });
  return Buffer.concat([...entries, TAR_END]);
}

/** Headers have a checksum, which hides most mutants from the reader: in half of the inputs it is corrected. */
function mutantTar(corpus: readonly Uint8Array[], seed: number): Buffer {
  const bytes = Buffer.from(mutant({ corpus, seed, bytes: TELLING_BYTES, runs: RUNS }));
  if (randomOf(seed ^ 0x5bd1_e995)(2) === 0) return bytes;
  for (let at = 0; at + BLOCK <= bytes.length; at += BLOCK) {
    const block = bytes.subarray(at, at + BLOCK);
    if (block.toString('latin1', 257, 262) === 'ustar') mendChecksum(block);
  }
  return bytes;
}

const CHECKSUM = { at: 148, length: 8 };

function mendChecksum(block: Buffer): void {
  block.fill(0x20, CHECKSUM.at, CHECKSUM.at + CHECKSUM.length);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, CHECKSUM.at, 'latin1');
}

/** A folder for the inputs of one run of a target. */
function inFolder(use: { folder: string }): () => Promise<() => Promise<void>> {
  return () => {
    use.folder = mkdtempSync(join(tmpdir(), 'skillcell-fuzz-'));
    return Promise.resolve(() => Promise.resolve(rmSync(use.folder, { recursive: true, force: true })));
  };
}

/** False for a refusal that blames the image. */
async function accepts(read: () => Promise<void>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (error instanceof SkillError && ['manifest_invalid', 'skill_unavailable'].includes(error.code))
      return false;
    throw error;
  }
}

const layers = { folder: '' };
const saved = { folder: '' };

export const tarTarget: FuzzTarget = fuzzTarget({
  name: 'tar',
  suiteRuns: 2_000,
  open: inFolder(layers),
  input: (seed) => mutantTar(LAYERS, seed),
  check: (bytes) =>
    accepts(async () => {
      const tree = await treeOf(layers.folder, 'layer.tar', bytes);
      const lines = linesOf(tree);
      const again = await treeOf(layers.folder, 'again.tar', await bytesOf(tree));
      if (linesOf(again).join('\n') !== lines.join('\n'))
        throw new Error('The tree changed when it was written and read again');
    }),
});

export const savedImageTarget: FuzzTarget = fuzzTarget({
  name: 'saved-image',
  suiteRuns: 500,
  open: inFolder(saved),
  input: (seed) => mutantTar([savedImage((layer) => layer), savedImage((layer) => gzipSync(layer))], seed),
  check: (bytes) =>
    accepts(async () => {
      const file = join(saved.folder, 'image.tar');
      writeFileSync(file, bytes);
      await readArchive(file, new Blobs(join(saved.folder, 'blobs')), LIMITS);
    }),
});

async function treeOf(folder: string, name: string, bytes: Buffer): Promise<FileTree> {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  const tree = new FileTree(LIMITS);
  await applyLayer(tree, file, { limits: LIMITS });
  return tree;
}

async function bytesOf(tree: FileTree): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of writeLayer(tree)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function linesOf(tree: FileTree): string[] {
  return [...walkTree(tree)].map(([path, node]) => {
    const parts = path.split('/');
    if (parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('\0')))
      throw new Error(`A path leaves the tree: ${JSON.stringify(path)}`);
    return `${path} ${node.kind} ${node.kind === 'link' ? node.target : node.mode}`;
  });
}
