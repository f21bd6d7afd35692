/**
 * A loaded skill: its verified bundle and its compiled schemas.
 *
 * @module
 */
import type { Manifest } from '../manifest/manifest.ts';
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
  const { manifest } = skill.bundle;
  const env = Object.entries(manifest.env).map(
    ([name, rule]) => [name, { ...rule, required: false }] as const,
  );
  return withManifest(skill, { ...manifest, env: Object.fromEntries(env) });
}

/** The same skill with another manifest, and without its overlay: no later decision about that replaces the manifest. */
export function withManifest(skill: Skill, manifest: Manifest): Skill {
  const { overlay: _overlay, ...bundle } = skill.bundle;
  return { ...skill, bundle: { ...bundle, manifest } };
}
