/**
 * Builds an image from a Dockerfile that runs nothing, without a container engine: files go into one new layer, everything
 * else into the config. The same bundle on the same base always produces the same digest.
 *
 * @module
 */
import { posix } from 'node:path';
import { emptyFolder, FileTree, type TreeNode } from '../../cell/images/file-tree.ts';
import { walkTree, writeLayer } from '../../cell/images/layers.ts';
import type { ConfigSection } from '../../cell/images/oci.ts';
import type { LocalImages, StoredImage } from '../../cell/images/store.ts';
import { SkillError } from '../../errors.ts';
import { commandOf, pairsOf, wordsOf, type Instruction } from './dockerfile.ts';

export interface OwnBuild {
  base: StoredImage;
  instructions: readonly Instruction[];
  /** Files of the bundle. */
  context: FileTree;
}

const EPOCH = '1970-01-01T00:00:00Z';

/** Returns the digest of the image. */
export async function buildOurselves(images: LocalImages, build: OwnBuild): Promise<string> {
  const { base, instructions } = build;
  const work = new BuildState(await images.tree(base), build.context, base.document.config ?? {});
  for (const instruction of instructions) work.apply(instruction);
  const layers = [...base.layers];
  if (work.hasFiles) layers.push(await images.blobs.write(writeLayer(work.layer)));
  const history = Array.isArray(base.document['history']) ? (base.document['history'] as unknown[]) : [];
  const step = {
    created: EPOCH,
    created_by: 'skillcell build',
    ...(work.hasFiles ? {} : { empty_layer: true }),
  };
  const config = {
    ...base.document,
    created: EPOCH,
    config: work.section,
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
    history: [...history, step],
  };
  return images.add(Buffer.from(JSON.stringify(config)), layers);
}

/** The state of a build between instructions. */
class BuildState {
  readonly layer = new FileTree();
  readonly section: ConfigSection;
  readonly #base: FileTree;
  readonly #context: FileTree;
  #hasOwnCommand = false;

  constructor(base: FileTree, context: FileTree, section: ConfigSection) {
    this.#base = base;
    this.#context = context;
    this.section = { ...section };
  }

  get hasFiles(): boolean {
    return this.layer.root.children.size > 0;
  }

  apply(instruction: Instruction): void {
    const { name, rest } = instruction;
    if (name === 'COPY') this.#copy(instruction);
    else if (name === 'ENV') this.section.Env = withVariables(this.section.Env ?? [], pairsOf(rest));
    else if (name === 'LABEL') this.#label(pairsOf(rest));
    else if (name === 'USER') this.section.User = rest;
    else if (name === 'WORKDIR') this.#enter(rest);
    else if (name === 'CMD') this.#command(commandOf(rest));
    else if (name === 'ENTRYPOINT') this.#entrypoint(commandOf(rest));
  }

  #command(command: string[]): void {
    this.section.Cmd = command;
    this.#hasOwnCommand = true;
  }

  /** Drops the arguments of the base image, which were meant for another program. */
  #entrypoint(command: string[]): void {
    this.section.Entrypoint = command;
    if (!this.#hasOwnCommand) delete this.section.Cmd;
  }

  #label(pairs: [string, string][]): void {
    const known = (this.section['Labels'] ?? {}) as Record<string, string>;
    this.section['Labels'] = { ...known, ...Object.fromEntries(pairs) };
  }

  #enter(path: string): void {
    const folder = posix.resolve('/', this.section.WorkingDir ?? '', path);
    this.section.WorkingDir = folder;
    if (this.#base.resolve(folder)?.kind !== 'folder') this.#put(folder, emptyFolder());
  }

  #copy({ rest, line }: Instruction): void {
    const flags = rest.match(/^(?:--\S+\s+)*/)?.[0] ?? '';
    const words = wordsOf(rest.slice(flags.length));
    const target = words.pop();
    if (target === undefined || words.length === 0) throw badCopy(line, 'has no source or no target');
    const attributes = attributesOf(flags);
    for (const word of words) {
      const source = posix.normalize(word).replace(/^\/+/, '').replace(/\/$/, '');
      const node = source.split('/').includes('..')
        ? undefined
        : this.#context.at(source === '.' ? '' : source);
      if (!node) throw badCopy(line, `${JSON.stringify(word)} is not in the bundle`);
      const isFolder = node.kind === 'folder' || target.endsWith('/') || target === '.' || words.length > 1;
      const place = posix.resolve('/', this.section.WorkingDir ?? '', target);
      if (node.kind === 'folder') this.#copyFolder(node, place, attributes);
      else
        this.#put(
          isFolder ? posix.join(place, posix.basename(source)) : place,
          withAttributes(node, attributes),
        );
    }
  }

  #copyFolder(folder: TreeNode & { kind: 'folder' }, place: string, attributes: Attributes): void {
    const part = new FileTree();
    part.root.children = folder.children;
    for (const [path, node] of walkTree(part)) {
      if (node.kind !== 'folder') this.#put(posix.join(place, path), withAttributes(node, attributes));
    }
  }

  /** Follows links in the path that the base has, and keeps the attributes of its folders. */
  #put(path: string, node: TreeNode): void {
    const real = this.#base.realPath(path);
    const parts = real.split('/');
    for (let length = 1; length < parts.length; length += 1) {
      const parent = parts.slice(0, length).join('/');
      if (this.layer.at(parent)) continue;
      const known = this.#base.at(parent);
      this.layer.put(parent, known?.kind === 'folder' ? { ...known, children: new Map() } : emptyFolder());
    }
    this.layer.put(real, node);
  }
}

interface Attributes {
  mode?: number;
  uid: number;
  gid: number;
}

function attributesOf(flags: string): Attributes {
  const mode = /--chmod=([0-7]+)/.exec(flags)?.[1];
  const [, uid = '0', gid = uid] = /--chown=(\d+)(?::(\d+))?/.exec(flags) ?? [];
  return {
    uid: Number(uid),
    gid: Number(gid),
    ...(mode === undefined ? {} : { mode: Number.parseInt(mode, 8) & 0o777 }),
  };
}

function withAttributes(node: TreeNode, attributes: Attributes): TreeNode {
  return node.kind === 'file' ? { ...node, ...attributes } : node;
}

function withVariables(known: readonly string[], pairs: [string, string][]): string[] {
  const all = new Map(known.map((line) => [line.split('=', 1)[0] ?? '', line]));
  for (const [name, value] of pairs) all.set(name, `${name}=${value}`);
  return [...all.values()];
}

function badCopy(line: number, why: string): SkillError {
  return new SkillError('manifest_invalid', `The Dockerfile is invalid: COPY in line ${line} ${why}`, {
    fix: 'Use COPY with paths of files relative to the bundle, and a target in the image.',
    detail: { line },
  });
}
