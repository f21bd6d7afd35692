/**
 * A pin as sources take it.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { SkillPin } from '../load/skills-lock.ts';
import { quote } from '../manifest/quote.ts';
import { sourceKindOf } from '../vocabulary/source-kinds.ts';
import type { PinnedSource } from './contract.ts';

export function toPinned({ source, tag, revision }: SkillPin): PinnedSource {
  const kind = sourceKindOf(source);
  if (kind !== undefined) return { kind, source, revision, ...(tag === undefined ? {} : { version: tag }) };
  throw new SkillError('manifest_invalid', `skills.lock.json names the unknown source ${quote(source)}`, {
    fix: 'Restore skills.lock.json from version control.',
    detail: { source },
  });
}
