/**
 * The fix for an exceeded limit: the option, the manifest or the policy, whichever set it.
 *
 * @module
 */
import { formatLimit } from '../../manifest/units.ts';
import { raiseIn } from '../../manifest/edit-sentences.ts';
import { fileOfPolicy, policyChange } from '../../policy/edits.ts';
import type { GrantedLimits } from '../../policy/grant.ts';
import { DEFAULT_LIMITS, isLowerable, type DeclaredLimit } from '../../vocabulary/limits.ts';
import { manifestChange, manifestFile, type Situation } from './situation.ts';

/** `field` is absent for a limit that nobody can set. */
export function fixForLimit(
  field: DeclaredLimit | undefined,
  limits: GrantedLimits,
  situation: Situation,
): string {
  if (field === undefined) return 'Give it less work.';
  return `Give it less work, or do this: ${raises(field, limits[field], situation).join(' ')}`;
}

/** A folder without a manifest declares nothing; what it may have is in an overlay beside it. */
function raiseDeclared(field: DeclaredLimit, above: string, situation: Situation): string[] {
  // Its manifest is a file of ours; its limits come with the call.
  if (situation.isProgram) return [`Raise the limit "${field}" of the program above ${above}.`];
  const key = `limits.${field}`;
  const overlay = situation.overlay?.();
  if (!overlay) return [manifestChange(situation, [raiseIn(key, manifestFile(situation), above)])];
  return [...overlay.before, raiseIn(key, overlay.file, above), ...overlay.after];
}

/** Every source that holds the limit down must be raised; usually it is one. */
function raises(field: DeclaredLimit, allowed: number, situation: Situation): string[] {
  const { manifest, policy, lowered } = situation;
  const above = formatLimit(field, allowed);
  const declared = manifest.limits[field] ?? DEFAULT_LIMITS[field];
  const ceiling = policy.ceilings[field];
  const steps: string[] = [];
  if (isLowerable(field) && lowered[field] === allowed)
    steps.push(`Pass a --${field} above ${above}, or leave the option out.`);
  if (declared <= allowed) steps.push(...raiseDeclared(field, above, situation));
  if (ceiling <= allowed)
    steps.push(policyChange(policy, [raiseIn(`ceilings.${field}`, fileOfPolicy(policy), above)]));
  if (declared <= allowed && ceiling > allowed)
    steps.push(`The policy allows at most ${formatLimit(field, ceiling)}.`);
  return steps;
}
