/**
 * A loaded skill: its verified bundle and its compiled schemas.
 *
 * @module
 */
import type { Bundle } from './bundle.ts';
import { prepareCheck, prepareOutputs, type ValueCheck } from '../manifest/schema-check.ts';
import type { Offload } from '../offload/offload.ts';

/** A loaded and verified skill, ready to be called. */
export interface Skill {
  readonly bundle: Bundle;
  readonly params: ValueCheck;
  readonly outputs: ValueCheck;
}

export async function compileSkill(bundle: Bundle, offload: Offload): Promise<Skill> {
  const { name, parameters, outputs } = bundle.manifest;
  const shared = { file: 'manifest.yaml', offload, owner: name };
  return {
    bundle,
    params: await prepareCheck(parameters, { ...shared, at: 'parameters' }),
    outputs: await prepareOutputs(outputs, { ...shared, at: 'outputs' }),
  };
}

/** The same skill with every variable optional, to compute what it would be granted. */
export function withOptionalEnv(skill: Skill): Skill {
  const bundle = withoutOverlay(skill.bundle);
  const env = Object.entries(bundle.manifest.env).map(
    ([name, rule]) => [name, { ...rule, required: false }] as const,
  );
  return { ...skill, bundle: { ...bundle, manifest: { ...bundle.manifest, env: Object.fromEntries(env) } } };
}

/** For a manifest that is neither of the two of the overlay, so that no later decision about the overlay replaces it. */
export function withoutOverlay({ overlay: _overlay, ...bundle }: Bundle): Bundle {
  return bundle;
}
