/**
 * One skill, one name: in a registry, what a skill calls itself has to be the id that people call it by. Else a rule for
 * one of both would not reach it.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { quote } from '../manifest/quote.ts';
import type { Description } from './bundle-texts.ts';
import type { BundleLocation } from './load-bundle.ts';

export interface IdentifiedDescription extends Description {
  /** Names beside the one of the manifest that rules judge it by. */
  aliases: readonly string[];
}

/** The description under the name that counts, or `manifest_invalid` for a skill of a registry that claims another. */
export function identify(
  description: Description,
  { ids = [], aliases = [] }: Pick<BundleLocation, 'ids' | 'aliases'>,
): IdentifiedDescription {
  const { manifest, warnings } = description;
  const claimed = manifest.name;
  const [other, ...more] = ids.filter((id) => !isIdOf(claimed, id));
  if (other === undefined) return { ...description, aliases: withoutName(aliases, claimed) };
  // A bundle made for Skillware may be called anything: here it is called by its folder, and judged by both names.
  const isLegacy = !manifest.declaresCapabilities && ids.length === 1 && other.includes('/');
  if (!isLegacy || more.length > 0) throw misnamed(claimed, other);
  return {
    ...description,
    manifest: { ...manifest, name: other },
    warnings: [...warnings, `name: ${quote(claimed)} is not its id; called "${other}" here`],
    aliases: [claimed, ...withoutName(aliases, other)],
  };
}

/** In a registry without categories, a folder can only say the second half. */
function isIdOf(name: string, id: string): boolean {
  return id.includes('/') ? name === id : name.split('/')[1] === id;
}

function withoutName(aliases: readonly string[], name: string): string[] {
  return aliases.filter((alias) => alias !== name);
}

function misnamed(name: string, id: string): SkillError {
  return new SkillError('manifest_invalid', `The skill "${id}" calls itself ${quote(name)}`, {
    fix: id.includes('/')
      ? `Write "name: ${id}" in its manifest, or move its folder to where "${name}" is looked for.`
      : `Rename its folder to ${quote(name.split('/')[1] ?? name)}, or write a name in its manifest that ends with "/${id}".`,
    detail: { name, id },
  });
}
