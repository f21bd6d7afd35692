/**
 * A pin as sources take it.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import type { SkillPin } from '../load/skills-lock.ts';
import { quote } from '../manifest/quote.ts';
import { sourceKindOf } from '../vocabulary/source-kinds.ts';
import type { OpenSource, PinnedSource, Source } from './contract.ts';

/** The source of a pin, which must be written as this machine would write it: rules and signers are found by its text. */
export function sourceOf({ source }: SkillPin, open: OpenSource): Source {
  const found = open(source);
  if (found.parse(source).source === source) return found;
  throw new SkillError(
    'manifest_invalid',
    `skills.lock.json does not write the source ${quote(source)} as usual`,
    {
      fix: `Restore skills.lock.json from version control, or write it as ${quote(found.parse(source).source)}.`,
      detail: { source },
    },
  );
}

export function toPinned({ source, tag, revision }: SkillPin): PinnedSource {
  const kind = sourceKindOf(source);
  if (kind !== undefined) return { kind, source, revision, ...(tag === undefined ? {} : { version: tag }) };
  throw new SkillError('manifest_invalid', `skills.lock.json names the unknown source ${quote(source)}`, {
    fix: 'Restore skills.lock.json from version control.',
    detail: { source },
  });
}
