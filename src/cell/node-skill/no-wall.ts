/**
 * The wall `none`: there is none. What runs here is a part of the host and can do all that the host can, so that nobody
 * enforces anything, and whatever a manifest, the operator or the caller sets is refused.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import { ENFORCED_FIELDS, type EnforcementTable } from '../../policy/enforcement.ts';
import type { CellProcess, Wall, WallProbe } from '../contract.ts';

const HELP = 'in_process has no isolation; run the skill as wasm or subprocess, or leave this out';

export class NoWall implements Wall {
  readonly name = 'none';

  async probe(): Promise<WallProbe> {
    const entries = ENFORCED_FIELDS.map((field) => [field, { by: 'nobody', how: HELP }]);
    const enforces = Object.fromEntries(entries) as EnforcementTable;
    return {
      available: true,
      summary: 'no isolation: for code that is trusted like the host itself',
      enforces,
    };
  }

  accepts(): void {
    // What needs an enforcer was refused before.
  }

  launch(): CellProcess {
    throw new SkillError('internal', 'There is no process outside of a wall', {
      fix: 'Please report this with the command that led here.',
    });
  }

  identity(): undefined {
    return undefined;
  }

  async close(): Promise<void> {
    // Nothing was started.
  }
}
