/**
 * Skills with the image and packages that a call would use now. A tag can move and packages can be reinstalled while a
 * skill stays loaded, so both are looked up for each call, before anything decides on it.
 *
 * @module
 */
import type { Bundle } from '../load/bundle.ts';
import { pinLines, type Pins } from '../load/pins.ts';
import type { Skill } from '../load/skill.ts';

export class PinnedSkills {
  readonly #lookUp: (bundle: Bundle) => Promise<Pins>;
  /** Keyed by the original skill object, because plans are cached by object identity. */
  readonly #newest = new WeakMap<Skill, Skill>();

  constructor(lookUp: (bundle: Bundle) => Promise<Pins>) {
    this.#lookUp = lookUp;
  }

  /** Returns the same object if nothing changed since it was last pinned. */
  async pin(skill: Skill): Promise<Skill> {
    const pins = await this.#lookUp(skill.bundle);
    const pinned: Skill = { ...skill, bundle: { ...skill.bundle, pins } };
    const known = [skill, this.#newest.get(skill)].find((one) => one && isSame(one, pinned));
    if (known) return known;
    this.#newest.set(skill, pinned);
    return pinned;
  }
}

function isSame({ bundle }: Skill, { bundle: other }: Skill): boolean {
  return bundle.pins !== undefined && pinLines(bundle).join('\n') === pinLines(other).join('\n');
}
