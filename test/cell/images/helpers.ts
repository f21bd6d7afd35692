/** Hand-made archives for tests, valid and hostile. */
import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { FileTree, type TreeNode } from '../../../src/cell/images/file-tree.ts';
import { applyLayer, walkTree, readContent, type LayerOptions } from '../../../src/cell/images/layers.ts';
import { ownArchitecture } from '../../../src/cell/images/oci.ts';
import type { LocalImages } from '../../../src/cell/images/store.ts';
import type { TarHeader } from '../../../src/cell/images/tar-header.ts';
import { TAR_END, tarHead, tarPadding } from '../../../src/cell/images/tar-writer.ts';
import { removeTree } from '../../../src/load/remove-tree.ts';
import { SkillError } from '../../../src/errors.ts';

export interface Entry extends Partial<TarHeader> {
  name: string;
  text?: string | Buffer;
}

/** The bytes of an archive with exactly these entries. */
export function tarOf(entries: readonly Entry[]): Buffer {
  const parts = entries.map(({ text = '', ...entry }) => {
    const content = Buffer.from(text);
    const header = { type: '0', linkName: '', mode: 0o644, uid: 0, gid: 0, size: content.length, ...entry };
    return Buffer.concat([tarHead(header), content, tarPadding(content.length)]);
  });
  return Buffer.concat([...parts, TAR_END]);
}

export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'skillcell-test-')));
  onTestFinished(() => removeTree(folder));
  return folder;
}

export function tempFile(bytes: Buffer): string {
  const file = join(tempFolder(), 'file');
  writeFileSync(file, bytes);
  return file;
}

/** The tree that results from applying layers with these entries. */
export async function treeOf(
  layers: readonly (readonly Entry[])[],
  options?: LayerOptions,
): Promise<FileTree> {
  const tree = new FileTree(options?.limits);
  for (const entries of layers) await applyLayer(tree, tempFile(tarOf(entries)), options);
  return tree;
}

/** A tree as lines for comparison: path, kind, mode, text or target. */
export async function listing(tree: FileTree): Promise<string[]> {
  const lines: string[] = [];
  for (const [path, node] of walkTree(tree)) lines.push(`${path} ${await lineOf(node)}`);
  return lines;
}

async function lineOf(node: TreeNode): Promise<string> {
  if (node.kind === 'link') return `-> ${node.target}`;
  const looks = `${node.mode.toString(8)} ${node.uid}:${node.gid}`;
  if (node.kind === 'folder') return `folder ${looks}`;
  const chunks: Buffer[] = [];
  for await (const chunk of readContent(node.content)) chunks.push(chunk);
  return `file ${looks} ${Buffer.concat(chunks).toString('latin1')}`;
}

/** Adds an image of one layer to a store. Returns its digest. */
export async function addImage(
  images: LocalImages,
  entries: readonly Entry[],
  changes: { architecture?: string; config?: Record<string, unknown> } = {},
): Promise<string> {
  const layer = await images.blobs.write([tarOf(entries)]);
  const document = {
    architecture: ownArchitecture(),
    os: 'linux',
    config: {},
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
    ...changes,
  };
  return images.add(Buffer.from(JSON.stringify(document)), [layer]);
}

/** The SkillError of a rejected promise; fails the test if it resolves. */
export async function failureOf(promise: Promise<unknown>): Promise<SkillError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SkillError);
  return error as SkillError;
}
