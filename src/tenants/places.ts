/**
 * Keeps the files of tenants apart: no two of them may overlap, and none may hold files of the operator.
 *
 * @module
 */
import { statSync } from 'node:fs';
import { isInside, realOrGiven } from '../policy/kept-places.ts';
import type { TenantContext } from '../policy/tenant-context.ts';

interface Place {
  owner: string;
  path: string;
}

export interface Apart {
  contexts: readonly TenantContext[];
  /** Files and folders of the operator. */
  own: readonly string[];
  refuse: (reason: string) => Error;
}

/** Files and folders of all tenants but this one. */
export function foreignTo({ name }: TenantContext, contexts: readonly TenantContext[]): string[] {
  return contexts
    .filter((other) => other.name !== name)
    .flatMap((other) => placesOf(other).map(({ path }) => path));
}

export function assertApart({ contexts, own, refuse }: Apart): void {
  for (const { name, workspace } of contexts)
    if (workspace !== undefined) assertFolder(name, workspace, refuse);
  const places = [
    ...contexts.flatMap(placesOf),
    ...own.map((path): Place => ({ owner: 'the operator', path })),
  ].map(({ owner, path }) => ({ owner, path: realOrGiven(path) }));
  const real = places.filter(({ owner }) => owner !== 'the operator');
  for (const [at, one] of real.entries())
    for (const other of [...real.slice(at + 1), ...places.slice(real.length)])
      if (isInside(one.path, other.path) || isInside(other.path, one.path))
        throw refuse(`"${one.path}" of ${one.owner} overlaps with "${other.path}" of ${other.owner}`);
}

function placesOf({ name, workspace, secrets }: TenantContext): Place[] {
  const files = secrets.flatMap((source) =>
    typeof source === 'object' && 'file' in source ? [source.file] : [],
  );
  return [...(workspace === undefined ? [] : [workspace]), ...files].map((path) => ({
    owner: `the tenant "${name}"`,
    path,
  }));
}

function assertFolder(name: string, workspace: string, refuse: Apart['refuse']): void {
  if (statSync(workspace, { throwIfNoEntry: false })?.isDirectory() === true) return;
  throw refuse(`the workspace "${workspace}" of "${name}" is not a folder`);
}
