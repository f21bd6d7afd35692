/**
 * The grant of a call that another call made: what it would get by itself, within a ceiling. Pure; never wider than either.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import type { Grant, GrantedPath, GrantedSecret, Withheld } from '../policy/grant.ts';
import { DECLARED_LIMITS, type LimitAmounts } from '../vocabulary/limits.ts';

const REASON = 'it was not allowed when the first call of this tree began';
const FIX = 'Make the whole call again: the permissions of a tree of calls only shrink while it runs.';

export function attenuate(grant: Grant, ceiling: Grant): Grant {
  // The usual case. The same object also keeps its cells, which are found by their grant.
  if (grant === ceiling || isDeepStrictEqual(grant, ceiling)) return grant;
  const withheld: Withheld[] = [...grant.withheld];
  const lose: Lose = (capability, declared) => {
    withheld.push({ capability, declared, reason: REASON, fix: FIX });
  };
  const { privateAddresses, secrets, programs, skills, observe, ...rest } = grant;
  const kept = keptSecrets(secrets, ceiling.secrets);
  return {
    ...rest,
    filesystem: keptPaths(grant, ceiling, lose),
    network: grant.network.filter((rule) => {
      const stays = ceiling.network.some((one) => isDeepStrictEqual(one, rule));
      if (!stays) lose('network', rule.host);
      return stays;
    }),
    ...(privateAddresses ? { privateAddresses: common(privateAddresses, ceiling.privateAddresses) } : {}),
    env: keptEnv(grant, ceiling, lose),
    ...(kept.length > 0 ? { secrets: kept } : {}),
    ...(observe && ceiling.observe ? { observe } : {}),
    // Two different filters cannot be combined, and the ceiling is the one that was allowed.
    syscalls: ceiling.syscalls,
    ...(programs ? { programs: common(programs, ceiling.programs) } : {}),
    ...(skills && ceiling.skills ? { skills: common(skills, ceiling.skills) } : {}),
    limits: lowest(grant.limits, ceiling.limits),
    withheld,
  };
}

type Lose = (capability: Withheld['capability'], declared: string) => void;

function keptPaths(grant: Grant, ceiling: Grant, lose: Lose): GrantedPath[] {
  return grant.filesystem.flatMap((path) => {
    const allowed = ceiling.filesystem.find(({ host, guest }) => host === path.host && guest === path.guest);
    if (!allowed) {
      lose('filesystem', `${path.access} ${path.guest}`);
      return [];
    }
    const access = allowed.access === 'read' ? 'read' : path.access;
    const sizes = [path.maxBytes, allowed.maxBytes].filter((size) => size !== undefined);
    return [{ ...path, access, ...(sizes.length > 0 ? { maxBytes: Math.min(...sizes) } : {}) }];
  });
}

function keptEnv(grant: Grant, ceiling: Grant, lose: Lose): Record<string, string> {
  const kept = Object.entries(grant.env).filter(([name]) => {
    const stays = Object.hasOwn(ceiling.env, name);
    if (!stays) lose('env', name);
    return stays;
  });
  return Object.fromEntries(kept);
}

function keptSecrets(secrets: GrantedSecret[] = [], allowed: GrantedSecret[] = []): GrantedSecret[] {
  return secrets.flatMap((secret) => {
    const ceiling = allowed.find(({ name }) => name === secret.name);
    if (!ceiling) return [];
    const { anyHost, ...rest } = secret;
    const isAny = anyHost && ceiling.anyHost;
    return [{ ...rest, hosts: common(secret.hosts, ceiling.hosts), ...(isAny ? { anyHost } : {}) }];
  });
}

function common(list: readonly string[], allowed: readonly string[] = []): string[] {
  return list.filter((one) => allowed.includes(one));
}

function lowest(limits: LimitAmounts, ceiling: LimitAmounts): LimitAmounts {
  const entries = DECLARED_LIMITS.map((name) => [name, Math.min(limits[name], ceiling[name])] as const);
  return Object.fromEntries(entries) as LimitAmounts;
}
