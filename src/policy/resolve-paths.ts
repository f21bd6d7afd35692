/**
 * The granted paths as they really are on this host. Links are followed here, once, and what they lead
 * to is judged again: a link inside the workspace must not open what lies outside of it.
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
import { isInside, keepDecisiveFiles, realOrGiven } from './kept-places.ts';
import type { OperatorPolicy } from './operator.ts';
import { secretFiles } from './secret-places.ts';

export interface ResolveOptions {
  policy: OperatorPolicy;
  workspace?: string;
  /** Skillcell's own folder, with approvals, the store and the receipts: no cell sees it. */
  home?: string;
  /** The working directory; what decides there over skills stays as it is. */
  cwd?: string;
  /** The folder of the skill itself. */
  bundle?: string;
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
  const kept = keepFiles(filesystem, options);
  return { ...grant, filesystem: kept.filesystem, withheld: [...withheld, ...kept.withheld] };
}

/** What a skill may write to, with what it may not change inside of that. */
function keepFiles(
  paths: readonly GrantedPath[],
  { policy, cwd = process.cwd(), bundle }: ResolveOptions,
): Pick<Grant, 'filesystem' | 'withheld'> {
  const writable = paths.filter(({ access }) => access === 'read-write');
  const keepings = writable.map((path) => ({
    path,
    keeping: keepDecisiveFiles(path, { policy, cwd, bundle }),
  }));
  const filesystem = new Map(paths.map((path) => [path.guest, path]));
  const withheld: Withheld[] = [];
  for (const { path, keeping } of keepings) {
    if (!('refusal' in keeping)) continue;
    filesystem.delete(path.guest);
    const declared = `${path.access} ${declaredAs(path.guest)}`;
    withheld.push({ capability: 'filesystem', declared, reason: keeping.refusal, fix: keeping.fix });
  }
  const inner = keepings.flatMap(({ keeping }) => ('inner' in keeping ? keeping.inner : []));
  // What is kept counts whatever else is granted there; a pin only where nothing is.
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
}

function refusalOf({ path, host, found, workspace, home, policy }: Judged): string | undefined {
  // A socket, pipe or device is authority of its own kind, not a file to read.
  if (!found.isFile() && !found.isDirectory()) return 'it is neither a file nor a folder';
  if (home !== undefined && (isInside(host, home) || isInside(home, host)))
    return `the folder of Skillcell itself, ${JSON.stringify(home)}, would be open to the skill`;
  const secrets = secretFiles(policy).find((file) => holdsOrIsIn(host, file));
  if (secrets !== undefined)
    return `the policy names ${JSON.stringify(secrets)} for secrets, which no skill gets to see`;
  const inWorkspace = path.guest === GUEST_WORKSPACE || path.guest.startsWith(`${GUEST_WORKSPACE}/`);
  if (inWorkspace) {
    const inside = workspace !== undefined && isInside(host, workspace);
    return inside ? undefined : 'a symbolic link leads out of the workspace';
  }
  const allowed = host === path.host || allowsPath(policy, host);
  return allowed ? undefined : 'a symbolic link leads to a path that the operator policy does not allow';
}

/** By the name that the policy has for it, and by what that leads to. */
function holdsOrIsIn(host: string, file: string): boolean {
  return [resolve(file), realOrGiven(file)].some((one) => isInside(host, one) || isInside(one, host));
}

/** As the manifest has it. */
function declaredAs(guest: string): string {
  const isInWorkspace = guest === GUEST_WORKSPACE || guest.startsWith(`${GUEST_WORKSPACE}/`);
  return isInWorkspace ? `\${workspace}${guest.slice(GUEST_WORKSPACE.length)}` : guest;
}

function withheldBecause(path: GrantedPath, reason: string): Withheld {
  return {
    capability: 'filesystem',
    declared: `${path.access} ${declaredAs(path.guest)}`,
    reason,
    fix: `Make "${path.host}" a real file or folder apart from Skillcell's own and from secrets, or declare the path that it stands for.`,
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
