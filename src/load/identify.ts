/**
 * One skill, one name: in a registry, a skill's own name must be the id that callers use. Otherwise a rule for one of
 * the two names would not apply.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { quote } from '../manifest/quote.ts';
import type { Description } from './bundle-texts.ts';
import type { BundleLocation } from './load-bundle.ts';

export interface IdentifiedDescription extends Description {
  /** Further names by which rules judge it. */
  aliases: readonly string[];
}

/** The description under the name that counts. Throws `manifest_invalid` if a registered skill claims another name. */
export function identify(
  description: Description,
  { ids = [], aliases = [] }: Pick<BundleLocation, 'ids' | 'aliases'>,
): IdentifiedDescription {
  const { manifest, warnings } = description;
  const claimed = manifest.name;
  const [other, ...more] = ids.filter((id) => !isIdOf(claimed, id));
  if (other === undefined) return { ...description, aliases: withoutName(aliases, claimed) };
  // A bundle made for Skillware may have any name: it gets the name of its folder, and rules for either name apply.
  const isLegacy = !manifest.declaresCapabilities && ids.length === 1 && other.includes('/');
  if (!isLegacy || more.length > 0) throw nameMismatch(claimed, other);
  return {
    ...description,
    manifest: { ...manifest, name: other },
    warnings: [...warnings, `name: ${quote(claimed)} is not its id; using "${other}"`],
    aliases: [claimed, ...withoutName(aliases, other)],
  };
}

/** In a registry without categories, the folder gives only the second half of the name. */
function isIdOf(name: string, id: string): boolean {
  return id.includes('/') ? name === id : name.split('/')[1] === id;
}

function withoutName(aliases: readonly string[], name: string): string[] {
  return aliases.filter((alias) => alias !== name);
}

function nameMismatch(name: string, id: string): SkillError {
  return new SkillError('manifest_invalid', `The skill "${id}" declares the name ${quote(name)}`, {
    fix: id.includes('/')
      ? `Write "name: ${id}" in its manifest, or move its folder to the path for "${name}".`
      : `Rename its folder to ${quote(name.split('/')[1] ?? name)}, or write a name in its manifest that ends with "/${id}".`,
    detail: { name, id },
  });
}
