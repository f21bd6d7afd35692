/**
 * Decides before each call whether the overlay of a project counts: only if a person approved exactly these files with
 * exactly these permissions. An overlay in Skillcell's own folder, which no skill and no clone can write, needs no approval.
 * Neither counts once its file has changed or is gone.
 *
 * @module
 */
import type { Bundle } from '../load/bundle.ts';
import { isCurrent, isUnapprovedWarning } from '../load/overlay.ts';
import type { Skill } from '../load/skill.ts';
import type { Manifest } from '../manifest/manifest.ts';

export class SettledOverlays {
  /** The same object for the same decision, because plans are cached by object identity. */
  readonly #variants = new WeakMap<Skill, Map<Manifest, Skill>>();

  settle(skill: Skill, isApproved: (bundle: Bundle) => boolean): Skill {
    const { overlay, manifest } = skill.bundle;
    if (!overlay || overlay.full === overlay.base) return skill;
    const full = this.#with(skill, overlay.full);
    const counts = isCurrent(overlay) && (overlay.place === 'home' || isApproved(full.bundle));
    const wanted = counts ? full : this.#with(skill, overlay.base);
    return wanted.bundle.manifest === manifest ? skill : wanted;
  }

  /** The skill with its overlay, approved or not: what a person is asked about. */
  proposed(skill: Skill): Skill {
    const { overlay } = skill.bundle;
    return overlay ? this.#with(skill, overlay.full) : skill;
  }

  #with(skill: Skill, manifest: Manifest): Skill {
    if (skill.bundle.manifest === manifest) return skill;
    const variants = this.#variants.get(skill) ?? new Map<Manifest, Skill>();
    const known = variants.get(manifest);
    if (known) return known;
    const made: Skill = { ...skill, bundle: withManifest(skill.bundle, manifest) };
    variants.set(manifest, made);
    this.#variants.set(skill, variants);
    return made;
  }
}

function withManifest(bundle: Bundle, manifest: Manifest): Bundle {
  const isFull = manifest === bundle.overlay?.full;
  const warnings = isFull ? bundle.warnings.filter((one) => !isUnapprovedWarning(one)) : bundle.warnings;
  return { ...bundle, manifest, warnings };
}
