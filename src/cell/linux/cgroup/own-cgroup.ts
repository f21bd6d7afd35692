/**
 * Locates this process in the control group hierarchies, from /proc.
 *
 * @module
 */
import { join } from 'node:path';

export interface OwnCgroups {
  /** Directory of our group per v1 controller. */
  v1: Map<string, string>;
  /** Directory of our group in the unified hierarchy, and its mount point. */
  v2?: { own: string; top: string };
}

interface CgroupMount {
  kind: 'cgroup' | 'cgroup2';
  /** The directory of the hierarchy that is mounted. */
  root: string;
  point: string;
  options: string[];
}

/** Combines /proc/self/cgroup (our groups) and /proc/self/mountinfo (the mount points). */
export function locateOwnCgroups(cgroupText: string, mountinfoText: string): OwnCgroups {
  const mounts = mountinfoText.split('\n').flatMap(parseMount);
  const found: OwnCgroups = { v1: new Map() };
  for (const line of cgroupText.split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    if (controllers === '') {
      const mount = mounts.find((one) => one.kind === 'cgroup2');
      const own = mount && directoryOf(mount, path);
      if (mount && own !== undefined) found.v2 = { own, top: mount.point };
      continue;
    }
    for (const controller of controllers.split(',')) {
      const mount = mounts.find((one) => one.kind === 'cgroup' && one.options.includes(controller));
      const own = mount && directoryOf(mount, path);
      if (own !== undefined) found.v1.set(controller, own);
    }
  }
  return found;
}

function parseMount(line: string): CgroupMount[] {
  const [before = '', after = ''] = line.split(' - ');
  const [, , , root, point] = before.split(' ');
  const [kind, , options = ''] = after.split(' ');
  if (root === undefined || point === undefined) return [];
  if (kind !== 'cgroup' && kind !== 'cgroup2') return [];
  return [{ kind, root: unescapeOctal(root), point: unescapeOctal(point), options: options.split(',') }];
}

/** The mounted directory of a group; undefined if the mount shows another part of the hierarchy. */
function directoryOf(mount: CgroupMount, path: string): string | undefined {
  const root = mount.root === '/' ? '' : mount.root;
  const isInside = path === root || path.startsWith(`${root}/`);
  if (!isInside || path.split('/').includes('..')) return undefined;
  return join(mount.point, path.slice(root.length));
}

/** mountinfo writes a space as `\040`. */
function unescapeOctal(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)));
}
