/**
 * Which modules `python -m` may run as a command of a skill.
 *
 * @module
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SkillError } from '../../../errors.ts';
import type { Bundle } from '../../../load/bundle.ts';
import type { Command } from '../../../policy/commands/command.ts';

/** `python -m` also finds the modules of Python itself, which run code of the caller or listen on ports. */
export function assertModule(
  command: Command | undefined,
  { manifest }: Bundle,
  packages: string | undefined,
): void {
  if (command?.origin !== 'package' || command.start.run !== 'module') return;
  const { name } = command.start;
  const top = name.split('.')[0] ?? '';
  const isThere =
    packages !== undefined && [top, `${top}.py`].some((file) => existsSync(join(packages, file)));
  if (isThere) return;
  throw new SkillError('invalid_params', `The module "${name}" is neither in the skill nor in its packages`, {
    fix: `Name a module of "${manifest.name}", or install its packages first.`,
    detail: { module: name },
  });
}
