/**
 * The tenants of a running service whose file was edited: what both the tenants that the operator put in force and those
 * that the file now describes have.
 *
 * @module
 */
import { isDeepStrictEqual } from 'node:util';
import type { OperatorPolicy } from '../policy/operator.ts';
import { strictest } from '../policy/strictest.ts';
import type { TenantContext } from '../policy/tenant-context.ts';
import { lowerLimits } from './limits.ts';
import type { Issuer, Tenant, TenantBook, UploadLimits } from './tenants-file.ts';

/** Never gives a tenant what one of them does not. */
export function strictestTenants(inForce: TenantBook, file: TenantBook): TenantBook {
  const tenants = [...inForce.tenants].flatMap(([name, one]): [string, Tenant][] => {
    const other = file.tenants.get(name);
    return other ? [[name, strictestTenant(one, other)]] : [];
  });
  const issuers = inForce.issuers.flatMap((one) => {
    const other = file.issuers.find((candidate) => isSameIssuer(one, candidate));
    return other ? [strictestIssuer(one, other)] : [];
  });
  const operators = inForce.operators.filter((name) => file.operators.includes(name));
  return {
    tenants: new Map(tenants),
    issuers,
    operators,
    files: [...new Set([...inForce.files, ...file.files])],
  };
}

/** Where the tenants in force have less than the file gives them. */
export function waitingTenants(inForce: TenantBook, file: TenantBook): string[] {
  const names = [...file.tenants].flatMap(([name, wanted]) =>
    isDeepStrictEqual(inForce.tenants.get(name), wanted) ? [] : [`tenants.${name}`],
  );
  const lists = (['issuers', 'operators'] as const).filter(
    (key) => !isDeepStrictEqual(inForce[key], file[key]),
  );
  return [...names, ...lists];
}

function strictestTenant(one: Tenant, other: Tenant): Tenant {
  // The same object, because what was decided for it is cached by identity.
  if (isDeepStrictEqual(one, other)) return one;
  const uploads = lowerUploads(one.uploads, other.uploads);
  const lists = [...one.skills, ...other.skills.filter((list) => !includes(one.skills, list))];
  return {
    context: strictestContext(one.context, other.context),
    limits: lowerLimits(one.limits, other.limits),
    skills: lists,
    ...(uploads ? { uploads } : {}),
  };
}

function strictestContext(one: TenantContext, other: TenantContext): TenantContext {
  const policy = bothPolicies(one.policy, other.policy);
  return {
    name: one.name,
    ...(one.workspace !== undefined && one.workspace === other.workspace ? { workspace: one.workspace } : {}),
    secrets: one.secrets.filter((source) => includes(other.secrets, source)),
    env: Object.fromEntries(Object.entries(one.env).filter(([name, value]) => other.env[name] === value)),
    ...(policy ? { policy } : {}),
    foreign: [...new Set([...one.foreign, ...other.foreign])],
  };
}

function bothPolicies(one?: OperatorPolicy, other?: OperatorPolicy): OperatorPolicy | undefined {
  return one && other ? strictest(one, other) : (one ?? other);
}

function lowerUploads(one?: UploadLimits, other?: UploadLimits): UploadLimits | undefined {
  if (!one || !other) return undefined;
  return {
    skills: Math.min(one.skills, other.skills),
    bytes: Math.min(one.bytes, other.bytes),
    size: Math.min(one.size, other.size),
  };
}

function isSameIssuer(one: Issuer, other: Issuer): boolean {
  const keys = ['issuer', 'audience', 'jwks', 'claim'] as const;
  return keys.every((key) => one[key] === other[key]);
}

function strictestIssuer(one: Issuer, other: Issuer): Issuer {
  if (isDeepStrictEqual(one, other)) return one;
  const mapped = Object.entries(one.tenants).filter(([value, tenant]) => other.tenants[value] === tenant);
  return {
    ...one,
    algorithms: one.algorithms.filter((name) => other.algorithms.includes(name)),
    scopes: one.scopes.filter((scope) => other.scopes.includes(scope)),
    tenants: Object.fromEntries(mapped),
  };
}

function includes(list: readonly unknown[], value: unknown): boolean {
  return list.some((known) => isDeepStrictEqual(known, value));
}
