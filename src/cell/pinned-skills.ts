/**
 * Skills with what a call of them would use of this machine now. A tag can be moved and packages can be installed again
 * while a skill stays loaded, so it is looked up for each call, in front of everything that decides on it.
 *
 * @module
 */
import type { Bundle } from '../load/bundle.ts';
import { pinLines, type Pins } from '../load/pins.ts';
import type { Skill } from '../load/skill.ts';

export class PinnedSkills {
  readonly #lookUp: (bundle: Bundle) => Promise<Pins>;
  /** By the skill as it was handed in: plans are kept for the very same object. */
  readonly #newest = new WeakMap<Skill, Skill>();

  constructor(lookUp: (bundle: Bundle) => Promise<Pins>) {
    this.#lookUp = lookUp;
  }

  /** The skill itself, when nothing was changed since it was pinned. */
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
