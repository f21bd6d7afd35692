/**
 * The command of one call, read in the light of the bundle, the workspace and the policy.
 *
 * @module
 */
import { closeSync, openSync, readSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SkillError } from '../../errors.ts';
import type { Bundle } from '../../load/bundle.ts';
import type { Kind } from '../../vocabulary/kinds.ts';
import { realOrGiven } from '../kept-places.ts';
import type { OperatorPolicy } from '../operator.ts';
import type { GivenCommand, ParsedCommand } from './command.ts';
import { parseCommand } from './parse.ts';
import { SHEBANG_BYTES } from './shebang.ts';

export interface CommandCall {
  bundle: Bundle;
  workspace?: string | undefined;
  policy: OperatorPolicy;
}

/** Throws if the command may not run, whatever the grant. */
export function commandOf(given: GivenCommand, { bundle, workspace, policy }: CommandCall): ParsedCommand {
  const { files, sourceDir, stagedDir } = bundle;
  return parseCommand(given, {
    files,
    skillDirs: bothNames(sourceDir),
    workspaceDirs: workspace === undefined ? [] : bothNames(resolve(workspace)),
    headOf: (path) => headOf(join(stagedDir, path)),
    allowsGenerated: policy.generatedCode ?? true,
  });
}

/** A skill of instructions has nothing that could run, and only a skill of scripts runs commands. */
export function assertRunnable({ kind, manifest, sourceDir }: Bundle, wanted: Kind = kind): void {
  if (kind === 'function' && wanted === 'script')
    throw new SkillError(
      'usage',
      `The skill "${manifest.name}" is called with parameters: it has no commands`,
      {
        fix: `Call it with \`skillcell run\`, or runtime.execute in the library.`,
        detail: { kind },
      },
    );
  if (kind !== 'instructions') return;
  throw new SkillError('usage', `The skill "${manifest.name}" has instructions only: nothing in it runs`, {
    fix: `Read its instructions instead: ${join(sourceDir, 'SKILL.md')}`,
    detail: { kind },
  });
}

/** A folder as given, and without links. */
function bothNames(folder: string): string[] {
  return [...new Set([folder, realOrGiven(folder)])];
}

function headOf(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const head = Buffer.alloc(SHEBANG_BYTES);
    return head.toString('latin1', 0, readSync(descriptor, head, 0, SHEBANG_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}
