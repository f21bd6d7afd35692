/**
 * Maps declared paths to paths inside the cell. They depend only on the manifest, so that a skill finds its files at the
 * same place on every machine.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { FilesystemRule } from '../manifest/manifest.ts';
import { pathSegments } from './patterns.ts';

export const GUEST_WORKSPACE = '/workspace';

/** First segments of absolute paths that the cell itself uses; `lib*` is checked by prefix. */
const RESERVED = new Set(
  'usr bin sbin proc dev sys tmp skill harness bytecode deps node_modules etc run workspace'.split(' '),
);

export type DeclaredPath =
  /** Inside the bundle, which every skill may read without a grant. */
  | { kind: 'bundle' }
  /** Below the workspace of the call; `inside` is empty or starts with `/`. */
  | { kind: 'workspace'; inside: string; guest: string }
  | { kind: 'absolute'; guest: string };

/** Reads a declared path. Throws `manifest_invalid` for one that no cell can provide. */
export function readDeclaredPath(rule: FilesystemRule): DeclaredPath {
  const segments = pathSegments(rule.path);
  if (segments === undefined || segments.length === 0)
    throw refusal(rule, 'it is empty or has a ".." segment');
  const [first = '', ...rest] = segments;
  if (rule.path.startsWith('/')) {
    if (isReserved(first)) throw refusal(rule, `the cell itself uses "/${first}"`);
    return { kind: 'absolute', guest: `/${segments.join('/')}` };
  }
  if (first === '${workspace}') {
    const inside = rest.map((segment) => `/${segment}`).join('');
    return { kind: 'workspace', inside, guest: GUEST_WORKSPACE + inside };
  }
  if (rule.path.startsWith('${'))
    throw refusal(rule, 'the only variable is "${workspace}", as a whole segment');
  if (rule.access === 'read-write') throw refusal(rule, 'the bundle is never writable');
  return { kind: 'bundle' };
}

function isReserved(firstSegment: string): boolean {
  return RESERVED.has(firstSegment) || firstSegment.startsWith('lib');
}

function refusal(rule: FilesystemRule, why: string): SkillError {
  return new SkillError('manifest_invalid', `Cannot grant the path "${rule.path}": ${why}`, {
    fix: 'Declare a path below "${workspace}", or an absolute path outside the system folders, under capabilities.filesystem.',
    detail: { field: 'capabilities.filesystem', path: rule.path },
  });
}
