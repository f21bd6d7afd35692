/**
 * The granted paths as they really are on this host. Links are followed here, once, and what they lead
 * to is judged again: a link inside the workspace must not open what lies outside of it.
 *
 * @module
 */
import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { SkillError } from '../errors.ts';
import { allowsPath } from './allows-path.ts';
import type { Grant, GrantedPath, Withheld } from './grant.ts';
import { GUEST_WORKSPACE } from './guest-paths.ts';
import type { OperatorPolicy } from './operator.ts';

export interface ResolveOptions {
  policy: OperatorPolicy;
  workspace?: string;
  /** Skillcell's own folder, with approvals, the store and the receipts: no cell sees it. */
  home?: string;
}

/** Returns the grant with real host paths; a path that leads elsewhere moves to `withheld`. */
export async function resolveGrantPaths(grant: Grant, options: ResolveOptions): Promise<Grant> {
  if (grant.filesystem.length === 0) return grant;
  const workspace = options.workspace === undefined ? undefined : await realPathOf(options.workspace);
  const home = options.home === undefined ? undefined : await realPathOf(options.home);
  const filesystem: GrantedPath[] = [];
  const withheld = [...grant.withheld];
  for (const path of grant.filesystem) {
    const host = await realPathOf(path.host);
    const found = await stat(host);
    const refusal = refusalOf({ path, host, found, workspace, home, policy: options.policy });
    if (refusal === undefined)
      filesystem.push({ ...path, host, ...(found.isFile() ? { isFile: true } : {}) });
    else withheld.push(withheldBecause(path, refusal));
  }
  return { ...grant, filesystem, withheld };
}

interface Judged {
  path: GrantedPath;
  host: string;
  found: Stats;
  workspace: string | undefined;
  home: string | undefined;
  policy: OperatorPolicy;
}

function refusalOf({ path, host, found, workspace, home, policy }: Judged): string | undefined {
  // A socket, pipe or device is authority of its own kind, not a file to read.
  if (!found.isFile() && !found.isDirectory()) return 'it is neither a file nor a folder';
  if (home !== undefined && (isInside(host, home) || isInside(home, host)))
    return `the folder of Skillcell itself, ${JSON.stringify(home)}, would be open to the skill`;
  const inWorkspace = path.guest === GUEST_WORKSPACE || path.guest.startsWith(`${GUEST_WORKSPACE}/`);
  if (inWorkspace) {
    const inside = workspace !== undefined && isInside(host, workspace);
    return inside ? undefined : 'a symbolic link leads out of the workspace';
  }
  const allowed = host === path.host || allowsPath(policy, host);
  return allowed ? undefined : 'a symbolic link leads to a path that the operator policy does not allow';
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function withheldBecause(path: GrantedPath, reason: string): Withheld {
  return {
    capability: 'filesystem',
    declared: `${path.access} ${path.guest}`,
    reason,
    fix: `Make "${path.host}" a real file or folder apart from Skillcell's own, or declare the path that it stands for.`,
  };
}

async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (cause) {
    throw new SkillError('usage', `Cannot grant "${path}": ${(cause as Error).message}`, {
      fix: `Create "${path}" before the call, or pass another --workspace DIR.`,
      detail: { path },
      cause,
    });
  }
}
