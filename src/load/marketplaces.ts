/**
 * Finds the skills of plugin marketplaces on disk: a marketplace.json names the plugins, each with a folder of skills.
 * The file is untrusted: its size is capped, and no path in it may leave the folder of the marketplace.
 *
 * @module
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join, posix } from 'node:path';
import { z } from 'zod';
import { MARKETPLACE_FILE } from '../vocabulary/agent-folders.ts';
import { assertAbsent } from './absent.ts';
import { flatRegistry, type Registry } from './registries.ts';

export const MAX_MARKETPLACE_BYTES: number = 128 * 1024;
const MAX_PLUGINS = 200;
const MAX_PATHS = 500;

const text = z.string().max(500);
const pluginFields = z.looseObject({
  source: z.unknown(),
  skills: z.union([text, z.array(text)]).optional(),
});
const marketplaceFields = z.looseObject({
  metadata: z.looseObject({ pluginRoot: text.optional() }).optional(),
  plugins: z.array(z.unknown()),
});

/** The folders of skills of the marketplace in `root`; none if there is no marketplace, or none that can be read. */
export function marketplaceRegistries(root: string): Registry[] {
  const marketplace = marketplaceFields.safeParse(readMarketplace(join(root, MARKETPLACE_FILE)));
  if (!marketplace.success) return [];
  const { plugins, metadata } = marketplace.data;
  const paths = plugins
    .slice(0, MAX_PLUGINS)
    .flatMap((plugin) => skillPaths(plugin, metadata?.pluginRoot ?? '.'));
  return [...new Set(paths)].slice(0, MAX_PATHS).map((path) => flatRegistry(join(root, path), root));
}

/** Paths inside the marketplace. A plugin from elsewhere, such as a repository, has none. */
function skillPaths(plugin: unknown, pluginRoot: string): string[] {
  const fields = pluginFields.safeParse(plugin);
  if (!fields.success) return [];
  const { source, skills } = fields.data;
  if (typeof source !== 'string' || source.length > 500) return [];
  const base = posix.join(pluginRoot, source);
  const named = skills === undefined ? ['skills'] : [skills].flat();
  return named.map((path) => posix.join(base, path)).filter(isInside);
}

function isInside(path: string): boolean {
  return !path.startsWith('/') && path !== '..' && !path.startsWith('../') && !path.includes('\0');
}

function readMarketplace(file: string): unknown {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = fstatSync(fd);
    if (!fstatSync(fd).isFile() || size > MAX_MARKETPLACE_BYTES) return undefined;
    const bytes = Buffer.alloc(size);
    const length = readSync(fd, bytes, 0, size, 0);
    return JSON.parse(bytes.toString('utf8', 0, length)) as unknown;
  } catch (error) {
    assertAbsent(error, file);
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
