/**
 * Resolves the granted paths on this host. Links are followed here, once, and their targets are checked again: a link
 * inside the workspace must not give access to files outside it.
 *
 * @module
 */
import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SkillError } from '../errors.ts';
import { allowsPath } from './allows-path.ts';
import type { Grant, GrantedPath, Withheld } from './grant.ts';
import { GUEST_WORKSPACE } from './guest-paths.ts';
import { isInside, protectControlFiles, realOrGiven } from './kept-places.ts';
import type { OperatorPolicy } from './operator.ts';
import { secretFiles } from './secret-places.ts';

export interface ResolveOptions {
  policy: OperatorPolicy;
  workspace?: string;
  /** Skillcell's own folder, with approvals, the store and the receipts; no cell may see it. */
  home?: string;
  /** The working directory, whose control files are protected. */
  cwd?: string;
  /** The folder of the skill itself. */
  bundle?: string;
  /** Files and folders that belong to others. */
  foreign?: readonly string[];
}

/** Returns the grant with real host paths; a path that must not be granted moves to `withheld`. */
export async function resolveGrantPaths(grant: Grant, options: ResolveOptions): Promise<Grant> {
  if (grant.filesystem.length === 0) return grant;
  const workspace = options.workspace === undefined ? undefined : await realPathOf(options.workspace);
  const home = options.home === undefined ? undefined : await realPathOf(options.home);
  const filesystem: GrantedPath[] = [];
  const withheld = [...grant.withheld];
  for (const path of grant.filesystem) {
    const host = await realPathOf(path.host);
    const found = await stat(host);
    const { policy, foreign = [] } = options;
    const refusal = refusalOf({ path, host, found, workspace, home, policy, foreign });
    if (refusal === undefined)
      filesystem.push({ ...path, host, ...(found.isFile() ? { isFile: true } : {}) });
    else withheld.push(withheldBecause(path, refusal));
  }
  const kept = protectFiles(filesystem, options);
  return { ...grant, filesystem: kept.filesystem, withheld: [...withheld, ...kept.withheld] };
}

/** Adds protected places to the writable paths. */
function protectFiles(
  paths: readonly GrantedPath[],
  { policy, cwd = process.cwd(), bundle }: ResolveOptions,
): Pick<Grant, 'filesystem' | 'withheld'> {
  const writable = paths.filter(({ access }) => access === 'read-write');
  const protections = writable.map((path) => ({
    path,
    protection: protectControlFiles(path, { policy, cwd, bundle }),
  }));
  const filesystem = new Map(paths.map((path) => [path.guest, path]));
  const withheld: Withheld[] = [];
  for (const { path, protection } of protections) {
    if (!('refusal' in protection)) continue;
    filesystem.delete(path.guest);
    const declared = `${path.access} ${declaredAs(path.guest)}`;
    withheld.push({ capability: 'filesystem', declared, reason: protection.refusal, fix: protection.fix });
  }
  const inner = protections.flatMap(({ protection }) => ('inner' in protection ? protection.inner : []));
  // A protected place overrides any other grant; a pin never does.
  for (const path of inner) if (!path.isPin || !filesystem.has(path.guest)) filesystem.set(path.guest, path);
  const sorted = [...filesystem.values()].sort((a, b) => (a.guest < b.guest ? -1 : 1));
  return { filesystem: sorted, withheld };
}

interface Judged {
  path: GrantedPath;
  host: string;
  found: Stats;
  workspace: string | undefined;
  home: string | undefined;
  policy: OperatorPolicy;
  foreign: readonly string[];
}

function refusalOf({ path, host, found, workspace, home, policy, foreign }: Judged): string | undefined {
  // A socket, pipe or device is a different kind of authority than a file.
  if (!found.isFile() && !found.isDirectory()) return 'it is neither a file nor a folder';
  if (home !== undefined && (isInside(host, home) || isInside(home, host)))
    return `it would open Skillcell's own folder ${JSON.stringify(home)} to the skill`;
  const secrets = secretFiles(policy).find((file) => holdsOrIsIn(host, file));
  if (secrets !== undefined)
    return `it would open ${JSON.stringify(secrets)} to the skill, which the policy uses for secrets`;
  // The message does not say whose it is.
  if (foreign.some((place) => holdsOrIsIn(host, place))) return 'it belongs to somebody else';
  const inWorkspace = path.guest === GUEST_WORKSPACE || path.guest.startsWith(`${GUEST_WORKSPACE}/`);
  if (inWorkspace) {
    const inside = workspace !== undefined && isInside(host, workspace);
    return inside ? undefined : 'a symbolic link leads out of the workspace';
  }
  const allowed = host === path.host || allowsPath(policy, host);
  return allowed ? undefined : 'a symbolic link leads to a path that the operator policy does not allow';
}

/** Compares both the path in the policy and its real path. */
function holdsOrIsIn(host: string, file: string): boolean {
  return [resolve(file), realOrGiven(file)].some((one) => isInside(host, one) || isInside(one, host));
}

/** The path as the manifest declares it. */
function declaredAs(guest: string): string {
  const isInWorkspace = guest === GUEST_WORKSPACE || guest.startsWith(`${GUEST_WORKSPACE}/`);
  return isInWorkspace ? `\${workspace}${guest.slice(GUEST_WORKSPACE.length)}` : guest;
}

function withheldBecause(path: GrantedPath, reason: string): Withheld {
  return {
    capability: 'filesystem',
    declared: `${path.access} ${declaredAs(path.guest)}`,
    reason,
    fix: `Make "${path.host}" a real file or folder outside Skillcell's own folder and secrets, or declare the path that it links to.`,
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
