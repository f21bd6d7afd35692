/**
 * Where Skillcell keeps what is stored for tenants: `tenants/<name>` in its own folder.
 *
 * @module
 */
import { join } from 'node:path';
import { SkillError } from '../errors.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export function tenantsDir(home: string): string {
  return join(home, 'tenants');
}

/** The folder with the approvals and uploaded skills of a tenant. */
export function tenantHome(home: string, name: string): string {
  // The name becomes a path.
  if (NAME.test(name)) return join(tenantsDir(home), name);
  throw new SkillError('usage', `${JSON.stringify(name.slice(0, 100))} is not a valid name of a tenant`, {
    fix: 'Use letters, digits, ".", "_" and "-".',
  });
}
