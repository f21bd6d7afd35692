/**
 * What surrounds a call, so that a fix can name the file, the option or the policy that decides.
 *
 * @module
 */
import type { OverlayToEdit } from '../../load/write-overlay.ts';
import { recordSentence } from '../../manifest/edit-sentences.ts';
import { shellWord } from '../../manifest/quote.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { DEFAULT_POLICY, type OperatorPolicy } from '../../policy/operator.ts';
import type { LowerableLimit } from '../../vocabulary/limits.ts';
import type { Mode } from '../../vocabulary/modes.ts';

export interface Situation {
  /** Folder of the skill. */
  dir: string;
  isLocked: boolean;
  manifest: Pick<Manifest, 'capabilities' | 'limits'>;
  policy: OperatorPolicy;
  mode: Mode;
  hasWorkspace: boolean;
  /** It came with the call, and so did its limits. */
  isProgram?: boolean;
  /** Limits that the caller lowered for this call. */
  lowered: Partial<Record<LowerableLimit, number | undefined>>;
  /** True for addresses that need no permission of the policy. */
  isPublicAddress: (address: string) => boolean;
  /** Where a person permits more to an Agent Skills folder that has no manifest; absent for any other skill. */
  overlay?: () => OverlayToEdit;
}

/** For a report that is judged without its call. */
export const NO_SITUATION: Situation = {
  dir: '',
  isLocked: false,
  manifest: { capabilities: { filesystem: [], network: [], syscalls: 'default' }, limits: {} },
  policy: DEFAULT_POLICY,
  mode: 'subprocess',
  hasWorkspace: true,
  lowered: {},
  isPublicAddress: () => true,
};

export function manifestFile({ dir }: Situation): string {
  return dir === '' ? 'manifest.yaml' : `${dir}/manifest.yaml`;
}

/** Changes of the manifest. A lock must be renewed afterwards. */
export function manifestChange({ dir, isLocked }: Situation, edits: readonly string[]): string {
  const lock = `Then run \`skillcell lock ${shellWord(dir)}\`.`;
  return [...edits, ...(isLocked ? [lock] : [])].join(' ');
}

/** Points to the command that finds out what a call needs. */
export function recordAdvice({ dir }: Situation, options: string): string {
  return recordSentence(dir || 'PATH', { options });
}
