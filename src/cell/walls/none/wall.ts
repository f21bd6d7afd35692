/**
 * The wall `none`: no isolation. The skill runs inside the host and can do everything the host can. Nothing is enforced,
 * so any limit or capability set by a manifest, the operator or the caller is refused.
 *
 * @module
 */
import { SkillError } from '../../../errors.ts';
import { ENFORCED_FIELDS } from '../../../vocabulary/capabilities.ts';
import type { EnforcementTable } from '../../../policy/enforcement.ts';
import type { CellProcess, Wall, WallProbe } from '../../contract.ts';

const HELP = 'in_process has no isolation; run the skill as wasm or subprocess, or remove this setting';

export class NoWall implements Wall {
  readonly name = 'none';

  async probe(): Promise<WallProbe> {
    const entries = ENFORCED_FIELDS.map((field) => [field, { by: 'nobody', how: HELP }]);
    const enforces = Object.fromEntries(entries) as EnforcementTable;
    return {
      available: true,
      summary: 'no isolation: only for code that is trusted as much as the host',
      enforces,
    };
  }

  accepts(): void {
    // Everything that needs enforcement has already been refused.
  }

  launch(): CellProcess {
    throw new SkillError('internal', 'The wall "none" cannot start a process', {
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
